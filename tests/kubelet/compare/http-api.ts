/**
 * `node tests/kubelet/compare/http-api.ts`: starts upstream's kubelet (PODWRIGHT_UPSTREAM_KUBELET is the path of its binary) and `podwright
 * kubelet` with the same configuration and pods, each on its own containerd, and prints the differences between their HTTP API responses:
 * JSON fields, metrics with their types and labels (each once), and other responses as text. Saves the responses in the directory
 * PODWRIGHT_COMPARE_KEEP, if set. Takes about four minutes.
 */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sleep } from '@podwright/base';
import { discoverCgroups, removeCgroup } from '@podwright/host';
import { startUpstreamKubelet } from '../../../scripts/upstream-kubelet.ts';
import { startContainerd } from '../containerd.fixture.ts';
import { IMAGE, STAY, shell } from './manifest-parts.ts';

const UP_MS = 75_000;
const PORTS = { readOnly: 10_455, https: 10_450, healthz: 10_448 };
const PROBES = '{exec: {command: ["true"]}, periodSeconds: 5}';

const POD = (name: string, containers: string[], spec: string[] = []) =>
  [
    'apiVersion: v1',
    'kind: Pod',
    `metadata: {name: ${name}}`,
    'spec:',
    ...['terminationGracePeriodSeconds: 1', `containers: [${containers.join(', ')}]`, ...spec].map((one) => `  ${one}`),
  ].join('\n');
const PODS = {
  web: POD(
    'web',
    [
      `{ name: a, ${IMAGE}, ${shell('echo one; echo two >&2; echo three; sleep 1d')}, resources: {requests: {cpu: 20m, memory: 16Mi}, limits: {memory: 64Mi}}, volumeMounts: [{name: e, mountPath: /e}], livenessProbe: ${PROBES}, readinessProbe: ${PROBES}, startupProbe: ${PROBES} }`,
      `{ name: b, ${IMAGE}, ${STAY} }`,
    ],
    ['volumes: [{name: e, emptyDir: {}}]'],
  ),
  crash: POD('crash', [`{ name: a, ${IMAGE}, ${shell('echo gone; exit 1')} }`]),
  host: POD('host', [`{ name: a, ${IMAGE}, ${STAY} }`], ['hostNetwork: true']),
  done: POD('done', [`{ name: a, ${IMAGE}, ${shell('exit 0')} }`], ['restartPolicy: Never']),
  pull: POD('pull', [`{ name: a, image: "localhost:1/none:1" }`]),
};

type Answer = { status: number; type: string; text: string };
const HTTPS = `https://127.0.0.1:${PORTS.https}`;
const HEALTH = `http://127.0.0.1:${PORTS.healthz}`;
const READ_ONLY = `http://127.0.0.1:${PORTS.readOnly}`;

const PATHS = (pod: string): [string, string, Record<string, string>?][] => [
  ...[
    ...[
      '/pods',
      '/pods/',
      '/runningpods/',
      '/runningpods',
      '/stats/summary',
      '/stats/summary?only_cpu_and_memory=true',
      '/stats',
    ],
    ...['/metrics', '/metrics/cadvisor', '/metrics/resource', '/metrics/probes', '/configz', '/flagz', '/statusz'],
    ...[
      '/healthz',
      '/healthz/ping',
      '/healthz/log',
      '/healthz/syncloop',
      '/livez',
      '/readyz',
      '/',
      '/none',
      '/logs',
      '/logs/none',
    ],
    ...[
      '/debug/pprof/',
      '/debug/flags/v',
      '/metrics/none',
      '/exec',
      '/attach',
      '/portForward',
      '/run',
      '/checkpoint',
      '/spec',
      '/spec/',
    ],
  ].map((path): [string, string] => [HTTPS, path]),
  ...[
    '',
    '?tailLines=1',
    '?tailLines=-1',
    '?tailLines=x',
    '?stream=Stderr',
    '?stream=none',
    '?stream=Stderr&tailLines=1',
    '?limitBytes=4',
    '?limitBytes=0',
    '?sinceSeconds=0',
    '?sinceSeconds=1000',
    '?sinceTime=x',
    '?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z',
    '?timestamps=x',
    '?follow=x',
    '?previous=true',
    '?none=1',
  ].map((query): [string, string] => [HTTPS, `/containerLogs/default/${pod}/a${query}`]),
  ...['none/p/c', `default/none/a`, `default/${pod}/none`, `default/${pod}`].map((path): [string, string] => [
    HTTPS,
    `/containerLogs/${path}`,
  ]),
  [HTTPS, `/containerLogs/default/${pod.replace('web', 'crash')}/a?previous=true`],
  [HTTPS, `/containerLogs/default/${pod.replace('web', 'crash')}/a`],
  [HTTPS, `/containerLogs/default/${pod.replace('web', 'pull')}/a`],
  [HTTPS, '/flagz', { accept: 'application/json' }],
  [HTTPS, '/statusz', { accept: 'application/json' }],
  [HTTPS, '/statusz', { accept: 'application/json;v=v1alpha1;g=config.k8s.io;as=Statusz' }],
  [HTTPS, '/flagz', { accept: 'application/json;v=v1alpha1;g=config.k8s.io;as=Flagz' }],
  [HTTPS, '/metrics', { accept: 'application/openmetrics-text; version=1.0.0' }],
  [HTTPS, '/pods', { 'accept-encoding': 'gzip' }],
  ...['/healthz', '/healthz/ping', '/healthz/log', '/healthz/syncloop', '/'].map((path): [string, string] => [
    HEALTH,
    path,
  ]),
  ...['/pods', '/runningpods/', '/metrics', '/healthz', '/stats/summary', '/configz', '/logs/', '/run', '/'].map(
    (path): [string, string] => [READ_ONLY, path],
  ),
];

async function ask(
  origin: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  const answer = await fetch(`${origin}${path}`, {
    headers,
    method,
    redirect: 'manual',
    signal: AbortSignal.timeout(10_000),
  });
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() };
}

/** Returns the lines of a response to compare: its status and content type, and its JSON fields, text lines or metrics. */
function factsOf({ status, type, text }: Answer, clean: (text: string) => string): string[] {
  const head = `${status} ${type}`;
  const json = type.includes('json') ? parsed(text) : undefined;
  if (json !== undefined) return [head, ...new Set(fields(json))];
  const lines = text.split('\n').filter((line) => line !== '');
  const isMetrics = lines.some((line) => line.startsWith('# TYPE '));
  if (!isMetrics) return [head, ...lines.map((line) => withoutChance(clean(line)))];
  // skip metrics that have no samples
  const metrics = lines
    .filter((line, index) => /^[^#]|^# TYPE .*\n[^#]/.test(`${line}\n${lines[index + 1] ?? '#'}`))
    .map(metricOf);
  return [head.replace('; escaping=underscores', ''), ...new Set(metrics.filter((one) => !FOREIGN.test(one)))];
}

/** Metrics from the Go runtime and from Kubernetes' API server libraries, which are not compared. */
const FOREIGN =
  /^metric (TYPE )?(go|aggregator|apiserver|cardinality|disabled|hidden|registered|rest_client|workqueue)_/;

/** Replaces times, IDs and durations in a text response, since they differ from run to run. */
const withoutChance = (text: string) =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|\w{3} \w{3} [ \d]\d [\d:]+ UTC \d{4}/g, 'TIME')
    .replaceAll(/\b[\da-f]{64}\b/g, 'ID')
    .replaceAll(/\d\d sec/g, 'SECONDS')
    .replace(/^([a-z][\w -]*?)(?:: ?|=| )\s*(?=\S*$)/i, '$1=');

/** Returns the parsed JSON, or `undefined` if it is invalid: upstream also labels some responses as JSON that are not. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns what is compared of a line of metrics: a metric's name and type, or its name and label names. */
function metricOf(line: string): string {
  if (line.startsWith('#')) return `metric ${line.slice(2)}`;
  const [, name = '', labels = '', time] = /^(\w+)(?:\{(.*)\})? [^ ]+( \d+)?$/.exec(line) ?? [];
  const names = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label]) => label).sort();
  return `metric ${name}{${names}}${time === undefined ? '' : ' with a time'}`;
}

function fields(value: unknown, path = ''): string[] {
  if (value === null || typeof value !== 'object') return [`${path}: ${value === null ? 'null' : typeof value}`];
  if (Array.isArray(value))
    return value.length === 0
      ? [`${path}[]`]
      : value.flatMap((one) =>
          fields(
            one,
            `${path}[${(one as { name?: string })?.name?.replace(/-node$/, '').replace(/^(veth|pwk).*/, '$1…') ?? ''}]`,
          ),
        );
  const entries = Object.entries(value);
  return entries.length === 0 ? [`${path}: {}`] : entries.flatMap(([key, one]) => fields(one, `${path}.${key}`));
}

async function run(kind: 'upstream' | 'ours'): Promise<Map<string, string[]>> {
  const containerd = await startContainerd(kind === 'ours' ? 'o' : 'u');
  const scratch = join(containerd.scratch, 'k');
  const [root, logs, manifests] = ['root', 'logs', 'manifests'].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [root, logs, manifests]) mkdirSync(path, { recursive: true });
  let program = process.env.PODWRIGHT_UPSTREAM_KUBELET!;
  if (kind === 'ours') {
    program = join(scratch, 'program');
    writeFileSync(program, `#!/bin/sh\nexec ${resolve('bin/podwright')} kubelet "$@"\n`);
    chmodSync(program, 0o755);
  }
  const cgroupRoot = `/pwcompare${process.pid}${kind[0]}`;
  const places = { directory: scratch, root, logs, manifests, cgroupRoot, endpoint: containerd.endpoint };
  const kubelet = await startUpstreamKubelet({ program, ...places, ports: PORTS });
  const clean = (text: string) =>
    text
      .replaceAll(scratch, 'SCRATCH')
      .replaceAll(cgroupRoot, 'CGROUPS')
      .replaceAll(/-node\b/g, '');
  try {
    for (const [name, text] of Object.entries(PODS)) writeFileSync(join(manifests, `${name}.yaml`), text);
    await sleep(UP_MS);
    const result = new Map<string, string[]>();
    const note = async (name: string, asked: Promise<Answer>) => {
      const answer = await asked.catch(
        (error): Answer => ({ status: 0, type: '', text: String(error.cause ?? error) }),
      );
      result.set(name, factsOf(answer, clean));
      const directory = process.env.PODWRIGHT_COMPARE_KEEP;
      if (directory === undefined) return;
      mkdirSync(directory, { recursive: true });
      writeFileSync(
        join(directory, `${kind}${name.replaceAll(/\W+/g, '_')}`),
        `${answer.status} ${answer.type}\n${answer.text}`,
      );
    };
    const pod = kind === 'ours' ? 'web' : 'web-node';
    await ask(HTTPS, '/stats/summary').catch(() => undefined);
    await sleep(2000);
    for (const [origin, path, headers] of PATHS(pod))
      await note(`${origin.slice(-5)} ${clean(path)} ${Object.values(headers ?? {})}`, ask(origin, path, headers));
    for (const path of [
      '/pods',
      '/run/default/none/a?cmd=ls',
      `/run/default/${pod}/a?cmd=ls`,
      `/run/default/${pod}/none?cmd=ls`,
      `/run/default/${pod}/a?cmd=/no/such`,
      `/exec/default/${pod}/a?command=ls&output=1`,
      `/exec/default/${pod}/a`,
      `/portForward/default/${pod}`,
      `/attach/default/${pod}/a?output=1`,
      `/checkpoint/default/${pod}/a`,
      `/checkpoint/default/none/a`,
      '/metrics',
      '/healthz',
      '/configz',
    ])
      await note(`POST ${clean(path)}`, ask(HTTPS, path, {}, 'POST'));
    return result;
  } finally {
    for (const name of Object.keys(PODS)) rmSync(join(manifests, `${name}.yaml`), { force: true });
    await sleep(12_000);
    await kubelet.stop();
    await containerd.stop();
    await removeCgroup(await discoverCgroups(), cgroupRoot);
  }
}

process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
const [upstream, ours] = [await run('upstream'), await run('ours')];
const printed = new Set<string>();
function print(name: string, fact: string): void {
  if (fact.includes(' metric ') && printed.has(fact)) return;
  printed.add(fact);
  console.log(`${name} ${fact}`);
}
for (const [name, theirs] of upstream) {
  const own = ours.get(name) ?? [];
  for (const fact of theirs) if (!own.includes(fact)) print(name, `- ${fact}`);
  for (const fact of own) if (!theirs.includes(fact)) print(name, `+ ${fact}`);
}
