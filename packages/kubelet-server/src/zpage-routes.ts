import { VERSION } from '@podwright/base';
import { formatTime } from '@podwright/kube-api';
import { ANY_METHOD, type ApiCall, type ApiRoute, sendText } from './api-route.ts';
import { sendJson } from './http/api-call.ts';

/** Information about the kubelet shown on the z-pages. */
export type KubeletFacts = {
  /** The KubeletConfiguration in effect. Any authorized caller can read it. */
  configuration: object;
  flags: Record<string, string>;
  startedAtMs: number;
};

const GROUP = 'config.k8s.io';
const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

/** Serves `/configz`, `/flagz` and `/statusz`. The last one lists the first segments of `paths`. */
export function zpageRoutes(facts: KubeletFacts, paths: () => string[]): ApiRoute[] {
  const route = (path: string, handler: ApiRoute['handler']): ApiRoute => ({
    methods: ANY_METHOD,
    path,
    access: 'debug',
    handler,
  });
  const listed = (path: string, handler: ApiRoute['handler']): ApiRoute => ({ ...route(path, handler), listed: true });
  return [
    listed('/configz', ({ response }) => sendJson(response, { kubeletconfig: facts.configuration })),
    listed('/flagz', (call) =>
      negotiate(call, { kind: 'Flagz', text: () => flagText(facts.flags), fields: () => ({ flags: facts.flags }) }),
    ),
    route('/statusz', (call) => {
      const status = statusOf(facts, paths());
      return negotiate(call, { kind: 'Statusz', text: () => statusText(status), fields: () => status });
    }),
  ];
}

function statusOf({ startedAtMs }: KubeletFacts, paths: string[]) {
  const topLevel = paths.map((path) => `/${path.split('/')[1]}`);
  return {
    startTime: formatTime(startedAtMs),
    uptimeSeconds: Math.max(0, Math.floor((Date.now() - startedAtMs) / 1000)),
    goVersion: '',
    binaryVersion: VERSION,
    paths: [...new Set(topLevel)].sort(),
  };
}

function flagText(flags: Record<string, string>): string {
  const lines = Object.keys(flags)
    .sort()
    .map((name) => `${name}=${flags[name]}\n`);
  return `\nkubelet flagz\n${WARNING}\n${lines.join('')}`;
}

function statusText({ startTime, uptimeSeconds, binaryVersion, paths }: ReturnType<typeof statusOf>): string {
  const up = new Date(uptimeSeconds * 1000).toISOString().slice(11, 19).split(':').map(Number);
  const hours = Math.floor(uptimeSeconds / 3600);
  const lines = [
    `Started:  ${unixDate(new Date(startTime))}`,
    `Up:  ${hours} hr ${String(up[1]).padStart(2, '0')} min ${String(up[2]).padStart(2, '0')} sec`,
    `Binary version:  ${binaryVersion}`,
    `Paths:  ${paths.join(' ')}`,
  ];
  return `\nkubelet statusz\n${WARNING}\n\n${lines.join('\n')}\n`;
}

/** Formats a UTC time like date(1): `Sun Nov  2 03:04:05 UTC 2026`. */
function unixDate(date: Date): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = date.toUTCString().split(' ');
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

type Page = { kind: string; text: () => string; fields: () => object };

/**
 * Sends text, or JSON if the Accept header specifies a version of the object, as in `application/json;v=v1beta1;g=config.k8s.io;as=Flagz`.
 */
function negotiate({ request, response }: ApiCall, { kind, text, fields }: Page): void {
  for (const accepted of (request.headers.accept ?? '*/*').split(',')) {
    const [type = '', ...given] = accepted.split(';').map((part) => part.trim().toLowerCase());
    if (['text/plain', 'text/*', '*/*', ''].includes(type)) return sendText(response, 200, text());
    const version = given.find((part) => part === 'v=v1beta1' || part === 'v=v1alpha1')?.slice(2);
    const isNamed = given.includes(`g=${GROUP}`) && given.includes(`as=${kind.toLowerCase()}`);
    if (type !== 'application/json' || version === undefined || !isNamed) continue;
    const body = { kind, apiVersion: `${GROUP}/${version}`, metadata: { name: 'kubelet' }, ...fields() };
    const as = `application/json;g=${GROUP};v=${version};as=${kind}`;
    return void response.writeHead(200, { 'content-type': as }).end(JSON.stringify(body));
  }
  const message = 'only the following media types are accepted: application/json, text/plain';
  const status = { status: 'Failure', message, reason: 'NotAcceptable', code: 406 };
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, ...status };
  response.writeHead(406, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
