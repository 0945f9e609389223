"""The part of the Census Bureau's PUMS data dictionary that the ACS tasks use: codes and what they mean."""

from __future__ import annotations

from leastwise.datasets.base import coded, number
from leastwise.schema import Attribute

YES_NO = {1: "yes", 2: "no"}

CLASS_OF_WORKER = {
    1: "private company, for profit",
    2: "private organization, not for profit",
    3: "local government",
    4: "state government",
    5: "federal government",
    6: "self-employed, not incorporated",
    7: "self-employed, incorporated",
    8: "family business or farm, without pay",
}
MARITAL_STATUS = {1: "married", 2: "widowed", 3: "divorced", 4: "separated", 5: "never married or under 15"}
RELATIONSHIP_UNTIL_2018 = {
    0: "reference person",
    1: "husband or wife",
    2: "biological child",
    3: "adopted child",
    4: "stepchild",
    5: "brother or sister",
    6: "father or mother",
    7: "grandchild",
    8: "parent-in-law",
    9: "son- or daughter-in-law",
    10: "other relative",
    11: "roomer or boarder",
    12: "housemate or roommate",
    13: "unmarried partner",
    14: "foster child",
    15: "other nonrelative",
    16: "in institutional group quarters",
    17: "in noninstitutional group quarters",
}
RELATIONSHIP_FROM_2019 = {
    20: "reference person",
    21: "opposite-sex spouse",
    22: "opposite-sex unmarried partner",
    23: "same-sex spouse",
    24: "same-sex unmarried partner",
    25: "biological child",
    26: "adopted child",
    27: "stepchild",
    28: "brother or sister",
    29: "father or mother",
    30: "grandchild",
    31: "parent-in-law",
    32: "son- or daughter-in-law",
    33: "other relative",
    34: "housemate or roommate",
    35: "foster child",
    36: "other nonrelative",
    37: "in institutional group quarters",
    38: "in noninstitutional group quarters",
}
RACE = {
    1: "White",
    2: "Black or African American",
    3: "American Indian",
    4: "Alaska Native",
    5: "American Indian and Alaska Native, tribes specified or none",
    6: "Asian",
    7: "Native Hawaiian or other Pacific Islander",
    8: "some other race",
    9: "two or more races",
}
PARENTS_EMPLOYMENT = {
    1: "two parents, both in the labor force",
    2: "two parents, only the father in the labor force",
    3: "two parents, only the mother in the labor force",
    4: "two parents, neither in the labor force",
    5: "father only, in the labor force",
    6: "father only, not in the labor force",
    7: "mother only, in the labor force",
    8: "mother only, not in the labor force",
}
CITIZENSHIP = {
    1: "born in the US",
    2: "born in Puerto Rico or another US territory",
    3: "born abroad of American parents",
    4: "citizen by naturalization",
    5: "not a citizen",
}
MOBILITY = {
    1: "in the same house",
    2: "outside the US and Puerto Rico",
    3: "in another house in the US or Puerto Rico",
}
MILITARY = {
    1: "now on active duty",
    2: "on active duty in the past",
    3: "only for training in the Reserves or National Guard",
    4: "never served",
}
ANCESTRY = {1: "single", 2: "multiple", 3: "unclassified", 4: "not reported", 8: "suppressed"}
EMPLOYMENT = {
    1: "civilian employed, at work",
    2: "civilian employed, not at work",
    3: "unemployed",
    4: "armed forces, at work",
    5: "armed forces, not at work",
    6: "not in the labor force",
}
STATE_CODES = {
    "AL": 1, "AK": 2, "AZ": 4, "AR": 5, "CA": 6, "CO": 8, "CT": 9, "DE": 10, "DC": 11, "FL": 12, "GA": 13,
    "HI": 15,
    "ID": 16, "IL": 17, "IN": 18, "IA": 19, "KS": 20, "KY": 21, "LA": 22, "ME": 23, "MD": 24, "MA": 25, "MI": 26,
    "MN": 27, "MS": 28, "MO": 29, "MT": 30, "NE": 31, "NV": 32, "NH": 33, "NJ": 34, "NM": 35, "NY": 36, "NC": 37,
    "ND": 38, "OH": 39, "OK": 40, "OR": 41, "PA": 42, "RI": 44, "SC": 45, "SD": 46, "TN": 47, "TX": 48, "UT": 49,
    "VT": 50, "VA": 51, "WA": 53, "WV": 54, "WI": 55, "WY": 56, "PR": 72,
}  # fmt: skip

# Which codes are "not applicable" (blank in the file) depends on the age of the person asked.
_ATTRIBUTES = (
    number("AGEP", "How old are you?", lower=0, upper=99, unit="years"),
    coded("COW", CLASS_OF_WORKER, "Who do you work for?"),
    number("SCHL", "What is your highest level of schooling (1: none, 16: high school, 24: doctorate)?",
           lower=1, upper=24, missing=True),
    coded("MAR", MARITAL_STATUS, "What is your marital status?"),
    coded("OCCP", (), "What is your occupation (Census code)?", other=True),
    coded("POBP", (), "Where were you born (Census code)?", other=True),
    coded("RELP", RELATIONSHIP_UNTIL_2018, "What are you to the reference person of your household?"),
    coded("RELSHIPP", RELATIONSHIP_FROM_2019, "What are you to the reference person of your household?"),
    number("WKHP", "How many hours a week do you usually work?", lower=1, upper=99, unit="hours"),
    coded("SEX", {1: "male", 2: "female"}, "What is your sex?"),
    coded("RAC1P", RACE, "What is your race?"),
    coded("DIS", YES_NO, "Do you have a disability?"),
    coded("ESP", PARENTS_EMPLOYMENT, "Do your parents live with you, and do they work?", missing=True),
    coded("CIT", CITIZENSHIP, "What is your citizenship?"),
    coded("MIG", MOBILITY, "Where did you live a year ago?", missing=True),
    coded("MIL", MILITARY, "Have you served in the military?", missing=True),
    coded("ANC", ANCESTRY, "Is your ancestry single or multiple?"),
    coded("NATIVITY", {1: "native", 2: "foreign born"}, "Are you native or foreign born?"),
    coded("DEAR", YES_NO, "Do you have difficulty hearing?"),
    coded("DEYE", YES_NO, "Do you have difficulty seeing?"),
    coded("DREM", YES_NO, "Do you have difficulty remembering or concentrating?", missing=True),
    number("PINCP", "What was your total income of the last 12 months?", unit="dollars"),
    coded("ESR", EMPLOYMENT, "Are you employed?", missing=True),
    coded("ST", {code: state for state, code in STATE_CODES.items()}, "In which state do you live?"),
    coded("FER", YES_NO, "Did you give birth in the last 12 months?", missing=True),
)  # fmt: skip
CODEBOOK: dict[str, Attribute] = {attribute.name: attribute for attribute in _ATTRIBUTES}
