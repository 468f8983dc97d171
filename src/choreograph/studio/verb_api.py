"""What can be asked for, and requests that are being made."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Response

from choreograph.contract.document import as_yaml
from choreograph.contract.migrate import marked
from choreograph.studio.api import FAILURES, Id, Open
from choreograph.studio.draft_asks import DraftAsk, Examples, FileAsk
from choreograph.studio.project import NotThere
from choreograph.studio.requests import check_drafts, draft_of_file
from choreograph.studio.verb_facts import VerbFacts
from choreograph.studio.verb_list import verbs_json
from choreograph.verbs import find_verb, rooms

router = APIRouter(prefix="/api", responses=FAILURES)

_YAML: dict[int | str, dict[str, Any]] = {200: {"content": {"application/yaml": {"schema": {"type": "string"}}}}}


@router.get("/verbs", response_model=list[VerbFacts])
async def get_verbs() -> Response:
    """The ways of asking for motion, with the JSON Schema of what each can be asked."""
    return Response(await asyncio.to_thread(verbs_json), media_type="application/json")


@router.post("/verbs/{verb}/request.yaml", responses=_YAML, response_class=Response)
async def post_request_file(verb: Id, ask: DraftAsk) -> Response:
    """A request as the file that the command line reads."""
    if verb not in rooms():
        raise NotThere(f"there is no verb {verb!r}; there are {', '.join(rooms())}")
    check_drafts({verb: ask.request}, {})
    return Response(as_yaml(marked(ask.request)), media_type="application/yaml")


@router.post("/verbs/{verb}/draft")
async def post_draft(verb: Id, ask: FileAsk) -> DraftAsk:
    """The request that a file says: YAML or JSON, or a drawing joined to what is asked already."""
    if verb not in rooms():
        raise NotThere(f"there is no verb {verb!r}; there are {', '.join(rooms())}")
    draft = await asyncio.to_thread(draft_of_file, find_verb(verb), ask.name, ask.text, ask.request)
    return DraftAsk(request=draft)


@router.post("/perform/examples")
async def post_examples(session: Open, ask: DraftAsk) -> Examples:
    """The recordings that such a performance is made of: how many segments, how fast."""
    return await session.asking.examples(ask.request)
