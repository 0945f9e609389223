"""UCI Communities and Crime: records are communities, predicting whether violent crime is above the median."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from leastwise.datasets.acs import STATE_CODES
from leastwise.datasets.base import Declaration, check_file, coded, number, reading
from leastwise.errors import DataError
from leastwise.schema import Attribute
from leastwise.validation import check_choice

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
NORMALIZED, UNNORMALIZED = "communities.data", "CommViolPredUnnormalizedData.txt"
TARGET = "ViolentCrimesPerPop"
RACES = ("racepctblack", "racePctWhite", "racePctAsian", "racePctHisp")

PREDICTORS = [
    "population", "householdsize", "racepctblack", "racePctWhite", "racePctAsian", "racePctHisp", "agePct12t21",
    "agePct12t29", "agePct16t24", "agePct65up", "numbUrban", "pctUrban", "medIncome", "pctWWage",
    "pctWFarmSelf", "pctWInvInc", "pctWSocSec", "pctWPubAsst", "pctWRetire", "medFamInc", "perCapInc",
    "whitePerCap", "blackPerCap", "indianPerCap", "AsianPerCap", "OtherPerCap", "HispPerCap", "NumUnderPov",
    "PctPopUnderPov", "PctLess9thGrade", "PctNotHSGrad", "PctBSorMore", "PctUnemployed", "PctEmploy",
    "PctEmplManu", "PctEmplProfServ", "PctOccupManu", "PctOccupMgmtProf", "MalePctDivorce", "MalePctNevMarr",
    "FemalePctDiv", "TotalPctDiv", "PersPerFam", "PctFam2Par", "PctKids2Par", "PctYoungKids2Par", "PctTeen2Par",
    "PctWorkMomYoungKids", "PctWorkMom", "NumKidsBornNeverMar", "PctKidsBornNeverMar", "NumImmig",
    "PctImmigRecent", "PctImmigRec5", "PctImmigRec8", "PctImmigRec10", "PctRecentImmig", "PctRecImmig5",
    "PctRecImmig8", "PctRecImmig10", "PctSpeakEnglOnly", "PctNotSpeakEnglWell", "PctLargHouseFam",
    "PctLargHouseOccup", "PersPerOccupHous", "PersPerOwnOccHous", "PersPerRentOccHous", "PctPersOwnOccup",
    "PctPersDenseHous", "PctHousLess3BR", "MedNumBR", "HousVacant", "PctHousOccup", "PctHousOwnOcc",
    "PctVacantBoarded", "PctVacMore6Mos", "MedYrHousBuilt", "PctHousNoPhone", "PctWOFullPlumb",
    "OwnOccLowQuart", "OwnOccMedVal", "OwnOccHiQuart", "OwnOccQrange", "RentLowQ", "RentMedian", "RentHighQ",
    "RentQrange", "MedRent", "MedRentPctHousInc", "MedOwnCostPctInc", "MedOwnCostPctIncNoMtg", "NumInShelters",
    "NumStreet", "PctForeignBorn", "PctBornSameState", "PctSameHouse85", "PctSameCity85", "PctSameState85",
    "LemasSwornFT", "LemasSwFTPerPop", "LemasSwFTFieldOps", "LemasSwFTFieldPerPop", "LemasTotalReq",
    "LemasTotReqPerPop", "PolicReqPerOffic", "PolicPerPop", "RacialMatchCommPol", "PctPolicWhite",
    "PctPolicBlack", "PctPolicHisp", "PctPolicAsian", "PctPolicMinor", "OfficAssgnDrugUnits",
    "NumKindsDrugsSeiz", "PolicAveOTWorked", "LandArea", "PopDens", "PctUsePubTrans", "PolicCars",
    "PolicOperBudg", "LemasPctPolicOnPatr", "LemasGangUnitDeploy", "LemasPctOfficDrugUn", "PolicBudgPerPop",
]  # fmt: skip
CRIMES = [
    "murders", "murdPerPop", "rapes", "rapesPerPop", "robberies", "robbbPerPop", "assaults", "assaultPerPop",
    "burglaries", "burglPerPop", "larcenies", "larcPerPop", "autoTheft", "autoTheftPerPop", "arsons",
    "arsonsPerPop",
]  # fmt: skip

# Known for few communities only (the police survey), or missing for one (OtherPerCap).
POLICE = ("Lemas", "Polic", "PctPolic", "Offic", "RacialMatch", "NumKinds")
INCOMPLETE = {"OtherPerCap", *(name for name in PREDICTORS if name.startswith(POLICE))} - {"LemasPctOfficDrugUn"}
ONLY_UNNORMALIZED = ("OwnOccQrange", "RentQrange")

COMMON = [name for name in PREDICTORS if name not in ONLY_UNNORMALIZED]
COLUMNS = {
    NORMALIZED: ["state", "county", "community", "communityname", "fold", *COMMON, TARGET],
    UNNORMALIZED: [
        *("communityname", "state", "countyCode", "communityCode", "fold"),
        *(*PREDICTORS, *CRIMES, TARGET, "nonViolPerPop"),
    ],
}
STATE_OF_CODE = {str(code): state for state, code in STATE_CODES.items()}


def read(place: Path, race: str = "majority") -> pl.DataFrame:
    """Read communities.data (128 columns) or CommViolPredUnnormalizedData.txt (147 columns).

    ``race="majority"`` puts one attribute in place of the four percentages, as the paper does;
    ``race="percentages"`` keeps the four.
    """
    check_choice("race", race, ("majority", "percentages"))
    frame = _read_table(check_file(place, [UNNORMALIZED, NORMALIZED]))
    frame = frame.drop_nulls(TARGET)
    # The task itself takes the median of all communities.
    above = pl.col(TARGET) > frame[TARGET].median()
    minority = pl.col("racePctWhite") / 5 < pl.col("racepctblack") + pl.col("racePctAsian") + pl.col("racePctHisp")
    frame = frame.with_columns(
        pl.col("state").replace(STATE_OF_CODE), above.cast(pl.Int8), minority.cast(pl.Int8).alias("race")
    )
    return frame.drop(RACES if race == "majority" else "race")


def _read_table(place: Path) -> pl.DataFrame:
    with reading(place, "is not the official file"):
        frame = pl.read_csv(place, has_header=False, infer_schema=False, null_values="?", encoding="utf8-lossy")
    columns = next((names for names in COLUMNS.values() if len(names) == frame.width), None)
    if columns is None:
        widths = " or ".join(str(len(names)) for names in COLUMNS.values())
        raise DataError(f"{place.name} must have {widths} columns without a header; it has {frame.width}")
    frame = frame.rename(dict(zip(frame.columns, columns, strict=True)))
    numbers = [name for name in columns if name in {*PREDICTORS, TARGET}]
    with reading(place, "must hold numbers, ? where unknown"):
        return frame.with_columns(pl.col(numbers).cast(pl.Float64))


def _attributes() -> tuple[Attribute, ...]:
    race = coded("race", {0: "fewer minorities", 1: "more minorities"}, "Is the community largely a minority one?")
    state = coded("state", list(STATE_CODES), "In which state is the community?")
    numbers = [
        number(name, integer=False, lower=0, personal=name in RACES)
        for name in PREDICTORS
        if name not in INCOMPLETE
    ]
    return (state, race, *numbers)


CRIME = Declaration(
    name="crime",
    title="UCI Communities and Crime: violent crime above the median",
    attributes=_attributes(),
    label=Attribute(TARGET, values=("0", "1"), labels=("not above the median", "above the median")),
    read=read,
    family="crime",
    source="leastwise datasets get crime -o FOLDER",
    addresses=lambda: {NORMALIZED: f"{UCI}communities/{NORMALIZED}", UNNORMALIZED: f"{UCI}00211/{UNNORMALIZED}"},
)
