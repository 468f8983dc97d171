/** The server, as functions: REST for what is asked once, one socket that mends itself for what happens by itself. */

import { PROTOCOL } from "./messages";
import type { CharacterFacts, Failure, Job, JobAsk, LiveFacts, Motion, Plain, Pulled, ToPage, ToServer } from "./messages";
import { ApiError, type Api, type AskOptions, type Connection, type Listener, type LiveWorn, type Worn } from "./types";

/** Frames kept in memory, bytes: about forty minutes of a person at 60 Hz. */
const CACHE_BYTES = 256e6;
/** Browsers send at most 64 KiB for a page that is gone. */
const KEEPALIVE_CHARACTERS = 16_000;
/** Motions on a character that are kept in memory. */
const WORN_KEPT = 24;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 8000;

export class Server implements Api {
  private readonly listeners = new Map<string, Set<(message: never, frames: Float32Array | null) => void>>();
  private readonly frameCache = new Map<string, Promise<Float32Array>>();
  private readonly frameBytes = new Map<string, number>();
  private readonly figureCache = new Map<string, Promise<ArrayBuffer>>();
  private readonly wornCache = new Map<string, Promise<Worn>>();
  private readonly liveCache = new Map<string, Promise<LiveFacts>>();
  private socket: WebSocket | null = null;
  private retry = FIRST_RETRY_MS;
  private announced: ToPage | null = null;
  private unsent: ToServer[] = [];
  private asks = 0;
  private performance = 0;
  private dragging = 0;

  /** Hears what becomes of the socket. */
  onConnection: (connection: Connection) => void = () => undefined;

  /** Where motions are described already, to save a request. */
  lookup: (id: string) => Motion | null = () => null;

  // -------------------------------------------------------------- REST

  async get<T>(path: string): Promise<T> {
    return (await (await this.fetch(path)).json()) as T;
  }

  async send<T>(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<T> {
    const init: RequestInit = { method };
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { "Content-Type": "application/json" };
      init.keepalive = init.body.length < KEEPALIVE_CHARACTERS; // what was just changed outlives a reload
    }
    const text = await (await this.fetch(path, init)).text();
    return (text ? JSON.parse(text) : null) as T;
  }

  async text(path: string, body: Plain | object): Promise<string> {
    const headers = { "Content-Type": "application/json" };
    return (await this.fetch(path, { method: "POST", body: JSON.stringify(body), headers })).text();
  }

  /** XMLHttpRequest, because fetch does not tell how far an upload is. */
  upload(files: File[], onProgress?: (share: number) => void): Promise<Job> {
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", "/api/recordings");
      request.upload.onprogress = (event) => onProgress?.(event.loaded / Math.max(event.total, 1));
      request.onerror = () => reject(new ApiError("The files did not reach the server: is it still running?", 0));
      request.onload = () => {
        if (request.status < 300) resolve(JSON.parse(request.responseText) as Job);
        else reject(failure(request.status, request.responseText));
      };
      request.send(form);
    });
  }

  start(ask: JobAsk): Promise<Job> {
    return this.send("POST", "/api/jobs", ask);
  }

  async cancel(job: string): Promise<void> {
    await this.send("DELETE", `/api/jobs/${job}`);
  }

  private async fetch(path: string, init?: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(path, init);
    } catch {
      throw new ApiError("The server does not answer: is `choreograph studio` still running?", 0);
    }
    if (!response.ok) throw failure(response.status, await response.text());
    return response;
  }

  // -------------------------------------------------------------- motions

  async motion(id: string): Promise<Motion> {
    return this.lookup(id) ?? (await this.get<Motion>(`/api/motions/${motionPath(id)}`));
  }

  frames(id: string): Promise<Float32Array> {
    const held = this.frameCache.get(id);
    if (held) {
      this.frameCache.delete(id); // and to the end of the queue
      this.frameCache.set(id, held);
      return held;
    }
    const coming = this.bytes(`/api/motions/${motionPath(id)}/frames`).then((bytes) => {
      this.frameBytes.set(id, bytes.byteLength);
      this.shrink();
      return new Float32Array(bytes);
    });
    coming.catch(() => this.forget(id));
    this.frameCache.set(id, coming);
    return coming;
  }

  figure(skeleton: string): Promise<ArrayBuffer> {
    let coming = this.figureCache.get(skeleton);
    if (!coming) {
      coming = this.bytes(`/api/figures/${encodeURIComponent(skeleton)}.glb`);
      coming.catch(() => this.figureCache.delete(skeleton));
      this.figureCache.set(skeleton, coming);
    }
    return coming;
  }

  /** Who is seen instead of the mannequin. */
  character: string | null = null;

  async worn(id: string): Promise<Worn | null> {
    const { character } = this;
    if (!character) return null;
    const [path, person = "0"] = motionPath(id).split(/\/(?=\d+$)/);
    const at = `/api/characters/${character}/${path}/${person}`;
    const key = `${id}|${character}`;
    const held = this.wornCache.get(key);
    if (held) return held;
    const coming = this.get<Motion>(at).then(async (motion) => ({
      character,
      motion,
      frames: new Float32Array(await this.bytes(`${at}/frames`)),
      figure: () => this.bytes(`/api/characters/${character}/figure.glb`),
    }));
    coming.catch(() => this.wornCache.delete(key));
    this.wornCache.set(key, coming);
    for (const old of [...this.wornCache.keys()].slice(0, -WORN_KEPT)) this.wornCache.delete(old);
    return coming;
  }

  async live(skeleton: string): Promise<LiveWorn | null> {
    const { character } = this;
    if (!character) return null;
    const key = `${skeleton}|${character}`;
    let coming = this.liveCache.get(key);
    if (!coming) {
      coming = this.get<LiveFacts>(`/api/characters/${character}/live/${encodeURIComponent(skeleton)}`);
      coming.catch(() => this.liveCache.delete(key));
      this.liveCache.set(key, coming);
    }
    return { character, facts: await coming, figure: () => this.bytes(`/api/characters/${character}/figure.glb`) };
  }

  async takeCharacter(file: File): Promise<CharacterFacts> {
    const form = new FormData();
    form.append("file", file);
    return (await (await this.fetch("/api/characters", { method: "POST", body: form })).json()) as CharacterFacts;
  }

  forget(id: string): void {
    this.frameCache.delete(id);
    this.frameBytes.delete(id);
    for (const key of [...this.wornCache.keys()]) if (key.startsWith(`${id}|`)) this.wornCache.delete(key);
  }

  private async bytes(path: string): Promise<ArrayBuffer> {
    return (await this.fetch(path)).arrayBuffer();
  }

  private shrink(): void {
    let total = 0;
    for (const size of this.frameBytes.values()) total += size;
    for (const id of [...this.frameCache.keys()]) {
      if (total <= CACHE_BYTES) return;
      total -= this.frameBytes.get(id) ?? 0;
      this.forget(id);
    }
  }

  // -------------------------------------------------------------- socket

  ask(verb: string, ask: Record<string, Plain>, { subject = null, passing = false }: AskOptions = {}): number {
    const number = ++this.asks;
    this.unsent = this.unsent.filter((message) => message.type !== "ask" || message.verb !== verb);
    this.tell({ type: "ask", verb, number, ask: { ...ask }, subject, passing });
    return number;
  }

  moved(samples: [number, number, number][], begin: Record<string, Plain> | null, lag_s: number): number {
    if (begin) this.performance = ++this.asks;
    // What was performed while the line was down is asked for as a whole anyway.
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.tell({ type: "moved", number: this.performance, begin, lag_s, samples });
    }
    return this.performance;
  }

  drag(ask: Record<string, Plain>, pull: Pulled | null, begin: boolean): number {
    if (begin) this.dragging = ++this.asks;
    // A drag while the line is down is asked for as a whole when it ends.
    if (this.socket?.readyState === WebSocket.OPEN) this.tell({ type: "drag", number: this.dragging, ask: { ...ask }, pull });
    return this.dragging;
  }

  on<T extends ToPage["type"]>(type: T, listener: Listener<T>): () => void {
    const heard = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, heard);
    heard.add(listener);
    return () => heard.delete(listener);
  }

  connect(): void {
    this.onConnection("connecting");
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/live`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL } satisfies ToServer));
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.hear(event.data);
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.announced = null;
      this.onConnection("lost");
      window.setTimeout(() => this.connect(), this.retry);
      this.retry = Math.min(2 * this.retry, LAST_RETRY_MS);
    };
    this.socket = socket;
  }

  private hear(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      if (this.announced) this.dispatch(this.announced, new Float32Array(data));
      this.announced = null;
      return;
    }
    const message = JSON.parse(data) as ToPage;
    if (message.type === "partial" || message.type === "frame") {
      this.announced = message; // its frames are the next message
      return;
    }
    if (message.type === "welcome") {
      this.retry = FIRST_RETRY_MS;
      this.onConnection(message.protocol === PROTOCOL ? "live" : "outdated");
      for (const waiting of this.unsent.splice(0)) this.tell(waiting);
    }
    this.dispatch(message, null);
  }

  private dispatch(message: ToPage, frames: Float32Array | null): void {
    for (const listener of this.listeners.get(message.type) ?? []) listener(message as never, frames);
  }

  private tell(message: ToServer): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    else this.unsent.push(message);
  }
}

/** "clip:ID" or "result:ID/1" as REST has it. */
export function motionPath(id: string): string {
  const [kind, rest = ""] = id.split(":", 2);
  return [kind!, ...rest.split("/")].map(encodeURIComponent).join("/");
}

function failure(status: number, text: string): ApiError {
  try {
    const said = JSON.parse(text) as Failure;
    if (typeof said.error === "string") return new ApiError(said.error, status, said.where ?? null);
  } catch {
    // not one of ours: a proxy, or the server's last breath
  }
  return new ApiError(`The server answered ${status}; its log may say why.`, status);
}
