import type { Profiler, Session } from 'node:inspector/promises';
import { sleep } from '@podwright/base';
import { type ApiCall, type ApiRoute, sendText } from './api-route.ts';
import { sendJson } from './http/api-call.ts';
import { DEFAULT_PROFILE_SECONDS, MAX_PROFILE_SECONDS } from './limits.ts';

type Take = { begin: (session: Session) => Promise<unknown>; end: (session: Session) => Promise<{ profile: object }> };

/** Profiles, by their names in Go's net/http/pprof. The output formats are V8's `.cpuprofile` and `.heapprofile`. */
const PROFILES = new Map<string, Take>([
  [
    'profile',
    {
      begin: async (session) => {
        await session.post('Profiler.enable');
        await session.post('Profiler.start');
      },
      end: (session): Promise<{ profile: Profiler.Profile }> => session.post('Profiler.stop'),
    },
  ],
  [
    // a profile of where memory is allocated; it does not contain any memory contents
    'heap',
    {
      begin: (session) => session.post('HeapProfiler.startSampling'),
      end: (session) => session.post('HeapProfiler.stopSampling'),
    },
  ],
]);

/** `/debug/pprof/profile` and `/debug/pprof/heap` take a profile for `?seconds=` seconds. Only one profile can be taken at a time. */
export function profileRoutes(enabled: boolean): ApiRoute[] {
  const disabled = ({ response }: ApiCall) => sendText(response, 405, 'profiling endpoint is disabled.\n');
  let isBusy = false;
  const handler = async (call: ApiCall) => {
    const take = PROFILES.get(call.params['*'] ?? '');
    if (take === undefined) return sendText(call.response, 404, 'Unknown profile\n');
    const seconds = readSeconds(call.query.get('seconds'));
    if (seconds === undefined) return sendText(call.response, 400, `seconds: from 1 to ${MAX_PROFILE_SECONDS}\n`);
    if (isBusy) return sendText(call.response, 500, 'Could not enable profiling: a profile is being taken\n');
    isBusy = true;
    try {
      await sendProfile(take, seconds, call);
    } finally {
      isBusy = false;
    }
  };
  const route = { path: '/debug/pprof/*', access: 'debug', listed: true } as const;
  return [{ methods: ['GET'], ...route, handler: enabled ? handler : disabled }];
}

function readSeconds(text: string | null): number | undefined {
  if (text === null) return DEFAULT_PROFILE_SECONDS;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return seconds >= 1 && seconds <= MAX_PROFILE_SECONDS ? seconds : undefined;
}

/** Takes a profile and sends it. `node:inspector` is imported only here, because it is rarely needed. */
async function sendProfile(
  { begin, end }: Take,
  seconds: number,
  { request, response, signal }: ApiCall,
): Promise<void> {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    await begin(session);
    request.socket.setTimeout(0); // the connection is idle until the profile ends
    await sleep(seconds * 1000, signal);
    sendJson(response, (await end(session)).profile);
  } finally {
    session.disconnect(); // also stops an unfinished profile
  }
}
