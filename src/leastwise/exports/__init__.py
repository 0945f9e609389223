"""The artefact where data enters: a form, a query, JavaScript, a JSON Schema, a questionnaire; and a code book.

Each export is complete by itself, and agrees with :meth:`leastwise.Generalization.transform`.
"""

from leastwise.exports.form import content_policy, form_html
from leastwise.exports.javascript import to_javascript
from leastwise.exports.languages import FormTexts, Notice, Translation
from leastwise.exports.questionnaire import questionnaire
from leastwise.exports.record_schema import code_book, record_schema
from leastwise.exports.sql import to_sql

__all__ = [
    "FormTexts",
    "Notice",
    "Translation",
    "code_book",
    "content_policy",
    "form_html",
    "questionnaire",
    "record_schema",
    "to_javascript",
    "to_sql",
]
