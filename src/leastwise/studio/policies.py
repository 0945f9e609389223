"""Limits, locks and names as the policy file of the command line."""

from __future__ import annotations

import yaml

from leastwise.documents import to_plain
from leastwise.policy.policy import FORMAT, VERSION
from leastwise.schema.names import names_to_document
from leastwise.studio.history import State
from leastwise.studio.holding import constraints_of
from leastwise.studio.opening import Ground


def policy_text(ground: Ground, state: State) -> str:
    """Return a ``leastwise.yaml`` with the task, the limits, what is locked, and what buckets are called."""
    said = {key: value for key, value in to_plain(state.limits).items() if value is not None and value != {}}
    budget = said if said.keys() != {"confidence"} else {}  # which is none by itself
    held = {key: value for key, value in to_plain(constraints_of(state.sheet)).items() if value}
    named = [attribute for attribute in state.sheet.generalization.schema.attributes if attribute.names]
    names = {attribute.name: names_to_document(attribute.names, attribute.values) for attribute in named}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "label": next((label.name for label in ground.schema.labels), None),
        "personal": [*ground.schema.personal],
        "seed": ground.seed,
        **({"budget": budget} if budget else {}),
        **({"constraints": held} if held else {}),
        **({"names": names} if names else {}),
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
