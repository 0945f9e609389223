"""Small files in the official formats, made of invented rows."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ADULT_ROWS = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    "United-States, <=50K",
    "50, ?, 83311, Doctorate, 16, Married-civ-spouse, ?, Husband, Black, Male, 0, 0, 13, ?, >50K",
)

# A person of the PUMS file: everything that the three tasks read, codes padded as the Bureau pads them.
PERSON = {
    "RT": "P", "SERIALNO": "2018GQ0000001", "ST": "06", "PWGTP": "00012", "AGEP": "40", "COW": "1", "SCHL": "21",
    "MAR": "1", "OCCP": "0110", "POBP": "006", "RELP": "00", "WKHP": "40", "SEX": "1", "RAC1P": "1",
    "PINCP": "60000", "DIS": "2", "ESP": "", "CIT": "1", "MIG": "1", "MIL": "4", "ANC": "1", "NATIVITY": "1",
    "DEAR": "2", "DEYE": "2", "DREM": "2", "ESR": "1", "FER": "", "PUBCOV": "2",
}  # fmt: skip
CHILD = {"AGEP": "02", "COW": "", "SCHL": "", "OCCP": "", "WKHP": "", "PINCP": "", "MIL": "", "ESR": "",
         "ESP": "1", "DREM": "", "MAR": "5", "RELP": "02", "PUBCOV": "1"}  # fmt: skip


def pums(path: Path, people: Iterable[Mapping[str, str]], renamed: Mapping[str, str] | None = None) -> Path:
    """Write a person file, csv or (by its name) zip."""
    rows = [PERSON | person for person in people]
    header = [(renamed or {}).get(name, name) for name in PERSON]
    text = "\n".join([",".join(header), *(",".join(row.values()) for row in rows)]) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".zip":
        path.write_text(text)
        return path
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("psam_p06.csv", text)
        archive.writestr("ACS2018_PUMS_README.pdf", b"%PDF")
    return path


CLAIMS = """MemberID,ProviderID,Vendor,PCP,Year,Specialty,PlaceSvc,PayDelay,LengthOfStay,DSFS,\
PrimaryConditionGroup,CharlsonIndex,ProcedureGroup,SupLOS
1,10,100,1000,Y1,Internal,Office,28,,8- 9 months,COPD,0,EM,0
1,10,101,1000,Y1,Laboratory,Independent Lab,162+,,7- 8 months,METAB3,1-2,PL,0
1,11,101,1000,Y2,Internal,Office,30,,0- 1 month,,0,EM,0
2,12,,1001,Y1,,Office,5,,0- 1 month,PRGNCY,0,,0
"""
TABLES = {
    "Claims.csv": CLAIMS,
    "DrugCount.csv": "MemberID,Year,DSFS,DrugCount\n1,Y1,0- 1 month,2\n1,Y1,1- 2 months,7+\n2,Y2,0- 1 month,1\n",
    "LabCount.csv": "MemberID,Year,DSFS,LabCount\n1,Y1,0- 1 month,10+\n",
    "Members.csv": "MemberID,AgeAtFirstClaim,Sex\n1,70-79,F\n2,20-29,\n3,,M\n",
}


def health(folder: Path) -> Path:
    """Write the tables of the Heritage Health Prize."""
    for name, text in TABLES.items():
        (folder / name).write_text(text)
    return folder


def health_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in TABLES.items():
            archive.writestr(name, text)
    return path


def delimited(path: Path, rows: Iterable[Iterable[Any]]) -> Path:
    path.write_text("\n".join(",".join(str(field) for field in row) for row in rows) + "\n")
    return path
