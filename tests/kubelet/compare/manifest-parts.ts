import { busyboxImage } from '../containerd.fixture.ts';

/** A container's image, of which there is nothing to pull. */
export const IMAGE = `image: ${busyboxImage}, imagePullPolicy: IfNotPresent`;
/** A command that runs until it is told to end. */
export const STAY = `command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.2; done"]`;

/** A pod: its containers in YAML's flow form, more lines of its specification, and of its metadata. */
export type Parts = { containers: string[]; spec?: string[]; meta?: string[] };

/** What happens to a manifest some seconds after it was written: it is changed, or, without parts, removed. */
export type Later = { seconds: number; parts?: Parts };

/** A command that runs a script of the shell. */
export const shell = (script: string) => `command: [sh, -c, ${JSON.stringify(script)}]`;

/** A command whose output is the container's message. */
export const showing = (script: string) => shell(`{ ${script}; } > /dev/termination-log 2>&1`);

/** The manifest; `number` makes its UID. */
export function manifest(name: string, number: number, { containers, spec = [], meta = [] }: Parts): string {
  const uid = `${`${number}`.padStart(8, '0')}-0000-0000-0000-000000000001`;
  const metadata = [`name: ${name}`, 'namespace: default', `uid: "${uid}"`, ...meta];
  const body = [...spec, 'containers:', ...containers.map((container) => `- ${container}`)];
  const indented = (lines: string[]) => lines.map((line) => `  ${line}`);
  return ['apiVersion: v1', 'kind: Pod', 'metadata:', ...indented(metadata), 'spec:', ...indented(body), ''].join('\n');
}
