"""
Exports: SQL, a form, a questionnaire
=====================================

One generalization, applied by a database, described to people, and asked by a form::

    python examples/04_exports.py [folder for the form and the questionnaire]
"""

import sqlite3
import sys
import tempfile
from pathlib import Path

from leastwise import Attribute, Generalization, Groups, Intervals
from leastwise.exports import form_html, questionnaire, record_schema, to_javascript, to_sql
from leastwise.partition import suppress

age = Attribute("age", "continuous", lower=0, upper=120, integer=True, question="How old are you?", unit="years")
work = Attribute(
    "work",
    values=("private", "state", "own", "none"),
    labels=("at a company", "for the state", "for myself", "I do not work"),
    question="Where do you work?",
)
sex = Attribute("sex", values=("f", "m"), personal=True)
g = Generalization(
    (Intervals(age, (24, 63)), Groups.of(work, [["private", "own"], ["state"], ["none"]]), suppress(sex))
)

# %%
# Files that need nothing but themselves.

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
(folder / "form.html").write_text(form_html(g, helper=True, title="Two questions"), encoding="utf-8")
(folder / "questions.md").write_text(questionnaire(g), encoding="utf-8")
(folder / "generalize.js").write_text(to_javascript(g), encoding="utf-8")
print("Open", folder / "form.html", "in a browser; it works offline.\n")

# %%
# The same as a query, and as a JSON Schema of generalized records.

print(to_sql(g, "sqlite", table="people"))
print(record_schema(g)["properties"]["age"])

# %%
# A database applies it, and refuses what lies outside the declared domain.

people = sqlite3.connect(":memory:")
people.execute("CREATE TABLE people (name, age, work, sex)")
people.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [("A", 24, "own", "f"), ("B", 25, "none", "m")])
print(people.execute(to_sql(g, "sqlite", table="people")).fetchall())
people.execute("INSERT INTO people VALUES ('C', 7000, 'state', 'f')")
try:
    people.execute(to_sql(g, "sqlite", table="people")).fetchall()
except sqlite3.OperationalError as error:
    print("Refused:", error)
people.close()
