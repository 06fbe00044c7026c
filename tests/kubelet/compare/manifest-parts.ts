import { busyboxImage } from '../containerd.fixture.ts';

/** A container's image fields, set so that the image is never pulled. */
export const IMAGE = `image: ${busyboxImage}, imagePullPolicy: IfNotPresent`;
/** A command that runs until it receives SIGTERM. */
export const STAY = `command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.2; done"]`;

/** The parts of a pod manifest: containers in YAML flow style, and additional lines for `spec` and `metadata`. */
export type Parts = { containers: string[]; spec?: string[]; meta?: string[] };

/** A change to a manifest this many seconds after it was written. If `parts` is unset, the manifest is removed. */
export type Later = { seconds: number; parts?: Parts };

export const shell = (script: string) => `command: [sh, -c, ${JSON.stringify(script)}]`;

/** Returns a command whose output becomes the container's termination message. */
export const showing = (script: string) => shell(`{ ${script}; } > /dev/termination-log 2>&1`);

/** Returns a pod manifest. The pod's UID is derived from `number`. */
export function manifest(name: string, number: number, { containers, spec = [], meta = [] }: Parts): string {
  const uid = `${`${number}`.padStart(8, '0')}-0000-0000-0000-000000000001`;
  const metadata = [`name: ${name}`, 'namespace: default', `uid: "${uid}"`, ...meta];
  const body = [...spec, 'containers:', ...containers.map((container) => `- ${container}`)];
  const indented = (lines: string[]) => lines.map((line) => `  ${line}`);
  return ['apiVersion: v1', 'kind: Pod', 'metadata:', ...indented(metadata), 'spec:', ...indented(body), ''].join('\n');
}
