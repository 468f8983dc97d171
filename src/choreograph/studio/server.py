"""The studio's server: an application on a project, and how it is run."""

from __future__ import annotations

import secrets
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from choreograph._version import __version__
from choreograph.base.errors import Cancelled, ChoreographError, RequestError
from choreograph.contract.request import LONGEST_QUOTE
from choreograph.studio import api, characters, faces, uploads, verb_api
from choreograph.studio.http_server import Impatient, StudioServer, check_tls, find_names
from choreograph.studio.importing import begin
from choreograph.studio.live import talk
from choreograph.studio.messages import Failure
from choreograph.studio.project import NotThere, Stale
from choreograph.studio.project_paths import ProjectPaths, find_places
from choreograph.studio.security import LOOPBACK, Guard, TooMuch, TooSlow
from choreograph.studio.session import Session
from choreograph.studio.steering import steer
from choreograph.studio.workers import StudioClosed, WorkerDied

PAGE = Path(__file__).parent / "page"
PING_S = 180.0
"""Time in which a socket's other side has to answer a ping: it does so behind all that it has still to read, and who
reads slowly is not gone."""
_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (NotThere, 404),
    (Stale, 409),
    (StudioClosed, 503),
    (Cancelled, 409),
    (WorkerDied, 503),
    (ChoreographError, 422),
)


def create_app(target: Path | None = None, *, host: str = "127.0.0.1", token: str | None = None) -> Guard:
    """The application on a folder, a .mog file, or the demo project.

    Args:
        target: What to open.
        host: The address that will be listened to.
        token: What strangers must know; needed where `host` is not this machine alone.

    Raises:
        RequestError: If the target cannot be opened.
    """
    if host not in LOOPBACK and token is None:
        raise RequestError(f"listening to {host} lets others in; a token is needed")
    app = _application(find_places(target))
    return Guard(app, hosts=LOOPBACK if token is None else ("*",), token=token)


def _application(places: ProjectPaths) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.session = session = Session(places)
        await session.open()
        await begin(session)
        try:
            yield
        finally:
            await session.close()

    app = FastAPI(
        title="Choreograph studio",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        separate_input_output_schemas=False,
    )
    app.include_router(api.router)
    app.include_router(verb_api.router)
    app.include_router(uploads.router)
    app.include_router(faces.router)
    app.include_router(characters.router)

    @app.websocket("/api/live")
    async def live(socket: WebSocket) -> None:
        await talk(socket, app.state.session)

    @app.websocket("/api/steer")
    async def steered(socket: WebSocket) -> None:
        await steer(socket, app.state.session)

    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ChoreographError, _refused)
    app.add_exception_handler(TooMuch, _too_much)
    app.add_exception_handler(TooSlow, _too_slow)
    if (PAGE / "index.html").is_file():
        app.mount("/", _PageFiles(directory=PAGE, html=True))
    else:
        app.add_api_route("/", _no_page, include_in_schema=False)
    return app


class _PageFiles(StaticFiles):
    """The built page: names of its parts change with their content, the page itself is asked for anew each time."""

    async def get_response(self, path: str, scope: Any) -> Any:
        response = await super().get_response(path, scope)
        lasting = path.startswith("assets/")
        response.headers["cache-control"] = "max-age=31536000, immutable" if lasting else "no-cache"
        return response


def _failure(status: int, error: str, where: str | None = None) -> JSONResponse:
    return JSONResponse(Failure(error=error, where=where).model_dump(), status)


async def _invalid(request: Request, error: Any) -> JSONResponse:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    # What is not JSON at all is broken; what is JSON of another shape cannot be done.
    where, text = where[:LONGEST_QUOTE], first["msg"][: 3 * LONGEST_QUOTE]
    return _failure(400 if first["type"] == "json_invalid" else 422, f"{where}: {text}", where or None)


async def _http(request: Request, error: Any) -> JSONResponse:
    response = _failure(error.status_code, str(error.detail))
    response.headers.update(error.headers or {})
    return response


async def _refused(request: Request, error: Any) -> JSONResponse:
    status = next(code for kind, code in _STATUS if isinstance(error, kind))
    return _failure(status, str(error), getattr(error, "where", None) or None)


async def _too_much(request: Request, error: Any) -> JSONResponse:
    return _failure(413, str(error))


async def _too_slow(request: Request, error: Any) -> JSONResponse:
    return _failure(408, str(error))


async def _no_page() -> PlainTextResponse:
    return PlainTextResponse(
        "The studio's page is not built: run `make page` in the project's folder, then reload.\n", 503
    )


def settings(app: Guard, **more: Any) -> Any:
    """How uvicorn serves the studio."""
    import uvicorn

    return uvicorn.Config(
        app,
        http=Impatient,
        log_level="warning",
        access_log=False,
        ws_max_size=4 << 20,
        ws_per_message_deflate=False,
        ws_ping_timeout=PING_S,
        timeout_graceful_shutdown=2,
        server_header=False,
        **more,
    )


async def end_work(app: Guard) -> None:
    """Give up what requests to the application wait for."""
    session: Session = app.app.state.session
    await session.end_work()


def run(
    target: Path | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    tls: tuple[Path | None, Path | None] = (None, None),
    ready: Callable[[Sequence[str]], None] = lambda addresses: None,
) -> None:
    """Serve until stopped.

    Args:
        target: A folder, a .mog file, or None for the demo project.
        host: Address to listen to; for anything but this machine a token is made, and is part of the address.
        port: Port; 0 takes any that is free.
        tls: Certificate and key, PEM files, for encryption.
        ready: Hears the addresses at which it can be opened once the server listens, the best one first.

    Raises:
        RequestError: If the target cannot be opened, the port is taken, or the certificate is none.
    """
    check_tls(*tls)
    places = find_places(target)
    token = None if host in LOOPBACK else secrets.token_urlsafe(24)
    app = create_app(target, host=host, token=token)
    held = places.claim()
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise RequestError(
            f"{host}, port {port} cannot be listened to ({error.strerror}); choose another with --port"
        ) from error
    scheme, end = (
        "https" if tls[0] else "http",
        f":{listening.getsockname()[1]}/" + (f"?token={token}" if token else ""),
    )
    addresses = [f"{scheme}://{f'[{name}]' if ':' in name else name}{end}" for name in find_names(host)]
    how = settings(app, ssl_certfile=tls[0], ssl_keyfile=tls[1])
    try:
        StudioServer(how, begun=lambda: ready(addresses), ending=lambda: end_work(app)).run(sockets=[listening])
    finally:
        held.close()
