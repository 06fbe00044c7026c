/**
 * Preloaded into a kubelet to kill it, like `kill -9`, just before one of the steps that change something for its pods: file and directory
 * operations, running programs, calls to CSI drivers and the runtime, API server requests. The parent process sends the number of the step
 * (`killAt`, from 0) and the file to record the steps in (`record`); the initial values are in the KILL environment variable.
 */
import programs from 'node:child_process';
import { appendFileSync } from 'node:fs';
import files from 'node:fs/promises';
import http2 from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';

export type KillMessage = { killAt: number; record: string };

let armed: { left: number; record: string } | undefined;
function arm({ killAt, record }: KillMessage): void {
  armed = { left: killAt, record };
}
process.on('message', arm);
if (process.env.KILL !== undefined) arm(JSON.parse(process.env.KILL));
process.channel?.unref();

function step(what: string): void {
  if (armed === undefined) return;
  appendFileSync(armed.record, `${what}\n`);
  if (armed.left-- === 0) process.kill(process.pid, 'SIGKILL');
}

/** Matches paths of pods and volumes, but not the kubelet's other files. */
const PLACES = /\/(pods|pod-statuses|plugins\/kubernetes\.io)(\/|$)/;
const withoutRandomParts = (path: string) =>
  path.replaceAll(/[\da-f]{8}-[\da-f-]{27}|[\da-f]{64}|\.[\da-f]{12}\.tmp/g, '…');

const CHANGES = ['mkdir', 'rename', 'rm', 'rmdir', 'unlink', 'writeFile', 'symlink', 'link', 'chmod', 'chown'] as const;
for (const name of CHANGES) {
  const change = files[name] as (...given: unknown[]) => Promise<unknown>;
  const changed = (...given: unknown[]) => {
    const path = given.slice(0, 2).find((one): one is string => typeof one === 'string' && PLACES.test(one));
    if (path !== undefined) step(`${name} ${withoutRandomParts(path)}`);
    return change(...given);
  };
  Object.assign(files, { [name]: changed });
}

const { spawn } = programs;
Object.assign(programs, {
  spawn: (...given: Parameters<typeof spawn>) => {
    step(`${given[0]} ${withoutRandomParts(String(given[1]))}`);
    return spawn(...given);
  },
});

/** Mutating calls: to the runtime and to drivers, and API requests for pods, their tokens and the node's status. */
const CALLS = [
  /^POST \/runtime\.v1\.RuntimeService\/(Run|Create|Start|Stop|Remove)/,
  /^POST \/csi\.v1\.Node\/Node(Stage|Unstage|Publish|Unpublish|Expand)/,
  /^(POST|PATCH|PUT|DELETE) \/api\/v1\/(namespaces\/[^/]+\/(pods|serviceaccounts)|nodes)\//,
];
const { connect } = http2;
Object.assign(http2, {
  connect: (...given: Parameters<typeof connect>) => {
    const session = connect(...given);
    const request = session.request.bind(session);
    session.request = (headers, options) => {
      const { ':method': method = 'GET', ':path': path = '' } = headers as Record<string, string>;
      const what = `${method} ${path}`;
      if (CALLS.some((call) => call.test(what))) step(withoutRandomParts(what));
      return request(headers, options);
    };
    return session;
  },
});
syncBuiltinESMExports();
