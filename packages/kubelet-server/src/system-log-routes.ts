import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open, opendir, readlink, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type ApiCall, type ApiRoute, sendText } from './api-route.ts';
import { MAX_LOG_DIRECTORY_ENTRIES } from './limits.ts';

/** The directories that `/logs/` serves, and whether it serves them at all (enableSystemLogHandler). */
export type SystemLogs = {
  enabled: boolean;
  /** The host's log directory (`/var/log`). */
  directory: string;
  /** Other directories that symbolic links in the log directory may point to, such as the pod log directory. */
  linked: string[];
};

/**
 * `/logs/` serves files and directory listings from the host's log directory like Go's file server. It opens only regular files in that
 * directory tree, never FIFOs or devices, even if a pod with access to the directory creates symbolic links.
 */
export function systemLogRoutes(logs: SystemLogs): ApiRoute[] {
  const handler = logs.enabled
    ? (call: ApiCall) => sendSystemLog(logs, call)
    : ({ response }: ApiCall) => sendText(response, 405, 'logs endpoint is disabled.\n');
  const methods = ['GET', 'HEAD'] as const;
  return ['/logs', '/logs/*'].map((path) => ({ methods, path, access: 'debug', handler }));
}

async function sendSystemLog(logs: SystemLogs, { request, response, path, signal }: ApiCall): Promise<void> {
  const notFound = () => sendText(response, 404, '404 page not found\n');
  const relative = path.slice('/logs'.length);
  if (relative.includes('\0')) return notFound();
  const real = await realPathBelow(logs, join(logs.directory, join('/', relative)));
  if (real === undefined) return notFound();
  const found = await stat(real).catch(() => undefined);
  if (found?.isDirectory()) {
    if (!relative.endsWith('/')) return redirect(response, `${encodeURIComponent(path.split('/').at(-1)!)}/`);
    return void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(await listing(real));
  }
  if (!found?.isFile() || relative.endsWith('/')) return notFound();
  await using file = await openBelow(logs, real);
  if (file === undefined) return notFound();
  request.socket.setTimeout(0);
  await sendFile(file, { response, name: real, range: request.headers.range, signal });
}

function redirect(response: ApiCall['response'], location: string): void {
  response.writeHead(301, { location }).end();
}

/** Resolves symbolic links. Returns `undefined` if the result is outside the log directories. */
async function realPathBelow({ directory, linked }: SystemLogs, path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  const roots = await Promise.all([directory, ...linked].map((root) => realpath(root).catch(() => undefined)));
  const isBelow = roots.some((root) => root !== undefined && (real === root || real?.startsWith(`${root}/`)));
  return isBelow ? real : undefined;
}

/**
 * Opens a file and checks that it really is inside the log directories, because symbolic links may have changed since the path was
 * resolved.
 */
async function openBelow(logs: SystemLogs, path: string): Promise<FileHandle | undefined> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  const opened = await readlink(`/proc/self/fd/${file.fd}`).catch(() => '');
  if ((await file.stat()).isFile() && (await realPathBelow(logs, opened)) === opened) return file;
  await file.close();
  return undefined;
}

type Sending = { response: ApiCall['response']; name: string; range: string | undefined; signal: AbortSignal };

async function sendFile(file: FileHandle, { response, name, range, signal }: Sending): Promise<void> {
  const { size, mtime } = await file.stat();
  const part = readRange(range, size);
  const head = { 'content-type': contentType(name), 'last-modified': mtime.toUTCString(), 'accept-ranges': 'bytes' };
  if (part === 'unsatisfiable') {
    response.setHeader('content-range', `bytes */${size}`);
    return sendText(response, 416, 'invalid range: failed to overlap\n');
  }
  const { start, end } = part ?? { start: 0, end: size };
  const partHead = part === undefined ? {} : { 'content-range': `bytes ${start}-${end - 1}/${size}` };
  response.writeHead(part === undefined ? 200 : 206, { ...head, ...partHead, 'content-length': end - start });
  if (response.req.method === 'HEAD' || end === start) return void response.end();
  const chunks = file.createReadStream({ start, end: end - 1, autoClose: false });
  for await (const chunk of chunks) if (!response.write(chunk)) await once(response, 'drain', { signal });
  response.end();
}

/**
 * Decodes a Range header that contains a single range (RFC 9110, section 14.1). Returns `undefined` if the whole file should be sent. Pure.
 */
export function readRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { start, end } : 'unsatisfiable';
}

function contentType(name: string): string {
  return extname(name) === '.gz' ? 'application/gzip' : 'text/plain; charset=utf-8';
}

/** Lists a directory like Go's file server. */
async function listing(directory: string): Promise<string> {
  const names: string[] = [];
  for await (const entry of await opendir(directory)) {
    if (names.length >= MAX_LOG_DIRECTORY_ENTRIES) break;
    names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  const lines = names.sort().map((name) => {
    const [path, ...rest] = name.split('/');
    return `<a href="${encodeURIComponent(path!)}${rest.length > 0 ? '/' : ''}">${escapeHtml(name)}</a>\n`;
  });
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join('')}</pre>\n`;
}

const HTML: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => HTML[character]!);
