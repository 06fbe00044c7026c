/** Renders docs/kubelet-configuration from the table of the kubelet's fields and flags. */
import { formatDuration } from '../packages/kube-api/src/values/time.ts';
import { featureGates } from '../packages/kubelet-configuration/src/feature-gates.ts';
import { CADVISOR_FLAGS } from '../packages/kubelet-configuration/src/fields/cadvisor-flags.ts';
import { CLUSTER_FIELDS } from '../packages/kubelet-configuration/src/fields/cluster-fields.ts';
import { EVICTION_FIELDS } from '../packages/kubelet-configuration/src/fields/eviction-fields.ts';
import type { Field } from '../packages/kubelet-configuration/src/fields/field.ts';
import * as types from '../packages/kubelet-configuration/src/fields/field-types.ts';
import { FLAG_ONLY_FIELDS } from '../packages/kubelet-configuration/src/fields/flag-only.ts';
import { LOGGING_FIELDS } from '../packages/kubelet-configuration/src/fields/logging-fields.ts';
import { NODE_FIELDS } from '../packages/kubelet-configuration/src/fields/node-fields.ts';
import { POD_FIELDS } from '../packages/kubelet-configuration/src/fields/pod-fields.ts';
import { RESOURCE_FIELDS } from '../packages/kubelet-configuration/src/fields/resource-fields.ts';
import { RUNTIME_FIELDS } from '../packages/kubelet-configuration/src/fields/runtime-fields.ts';
import { SERVER_FIELDS } from '../packages/kubelet-configuration/src/fields/server-fields.ts';
import { taints } from '../packages/kubelet-configuration/src/fields/taint-type.ts';

type Theme = { page: string; title: string; about: string; fields: Record<string, Field> };

const THEMES: Theme[] = [
  {
    page: 'pods.md',
    title: 'Pods',
    about: 'Sources of static pods, DNS, container logs, restarts, volumes.',
    fields: untyped(POD_FIELDS),
  },
  {
    page: 'images-and-runtime.md',
    title: 'Images and runtime',
    about: 'The CRI endpoints, image pulls, image removal.',
    fields: untyped(RUNTIME_FIELDS),
  },
  {
    page: 'resources.md',
    title: 'Resources',
    about: 'Cgroups, reserved resources, CPU, memory and topology managers.',
    fields: untyped(RESOURCE_FIELDS),
  },
  {
    page: 'eviction.md',
    title: 'Eviction',
    about: 'Thresholds at which pods are evicted.',
    fields: untyped(EVICTION_FIELDS),
  },
  {
    page: 'node.md',
    title: 'The node',
    about: 'Number of pods, requirements of the host, shutdown, feature gates.',
    fields: untyped(NODE_FIELDS),
  },
  {
    page: 'cluster.md',
    title: 'The API server',
    about: 'The node object, its lease, and request limits.',
    fields: untyped(CLUSTER_FIELDS),
  },
  {
    page: 'server.md',
    title: 'The HTTP API',
    about: 'Addresses, TLS, authentication, authorization, handlers.',
    fields: untyped(SERVER_FIELDS),
  },
  {
    page: 'logging-and-tracing.md',
    title: 'Logs and traces',
    about: "The kubelet's own logs and OTLP traces.",
    fields: untyped(LOGGING_FIELDS),
  },
];

const FLAGS = { page: 'flags.md', title: 'Flags without a field', about: 'Flags that no file can set.' };
const GATES = { page: 'feature-gates.md', title: 'Feature gates', about: 'Which gates can be set to which value.' };

/** The generated part of the index page starts after this line. */
const INDEX_MARK = '<!-- `make docs` writes the rest of this page. -->';

const NOTE = '<!-- Written by `make docs` from packages/kubelet-configuration; do not edit. -->';

const TYPE_NAMES = new Map<unknown, string>([
  [types.bool, 'boolean'],
  [types.int32, 'integer'],
  [types.int64, 'integer'],
  [types.float, 'number'],
  [types.string, 'string'],
  [types.path, 'path'],
  [types.ipAddress, 'IP address'],
  [types.duration, 'duration'],
  [types.durationOrNanoseconds, 'duration, or a number of nanoseconds'],
  [types.amount, 'quantity'],
  [types.stringList, 'list of strings'],
  [types.intList, 'list of integers'],
  [types.objects, 'list of objects'],
  [types.stringTable, 'map of strings'],
  [types.thresholds, 'map of strings'],
  [types.boolTable, 'map of booleans'],
  [types.headers, 'map of lists of strings'],
  [types.shutdownPeriods, 'list of objects with `priority` and `shutdownGracePeriodSeconds`'],
  [types.memoryReservations, 'list of objects with `numaNode` and `limits`'],
  [taints, 'list of taints'],
]);

/** The text of each page, by its path under docs/kubelet-configuration. `index` is the current text of README.md. */
export function kubeletConfigurationPages(index: string): Map<string, string> {
  return new Map([
    ...THEMES.map(({ page, title, about, fields }): [string, string] => [
      page,
      pageOf(title, [about, entriesOf(fields)]),
    ]),
    [FLAGS.page, pageOf(FLAGS.title, flagParts())],
    [GATES.page, pageOf(GATES.title, gateParts())],
    ['README.md', indexOf(index)],
  ]);
}

function indexOf(text: string): string {
  const end = text.indexOf(INDEX_MARK);
  if (end < 0) throw new Error(`docs/kubelet-configuration/README.md has no line ${INDEX_MARK}`);
  const pages = [...THEMES, FLAGS, GATES].map(({ page, title, about }) => `- [${title}](${page}): ${about}`);
  const fields = THEMES.flatMap(({ page, fields: all }) =>
    Object.keys(all).map((name) => `- [\`${name}\`](${page}#${anchorOf(name)})`),
  ).sort((a, b) => a.localeCompare(b, 'en'));
  const parts = [INDEX_MARK, '## Pages', pages.join('\n'), '## All fields', fields.join('\n')];
  return `${text.slice(0, end)}${parts.join('\n\n')}\n`;
}

function pageOf(title: string, parts: string[]): string {
  return `${[NOTE, `# ${title}`, ...parts].join('\n\n')}\n`;
}

/** The anchor that GitHub generates for a field's heading. */
const anchorOf = (name: string) => name.toLowerCase().replaceAll('.', '');

function entriesOf(fields: Record<string, Field>): string {
  return Object.entries(fields)
    .map(([name, field]) => entryOf(name, field))
    .join('\n\n');
}

/** Returns the Markdown section for a field and its flag, or for a flag without a field. */
function entryOf(name: string, field: Field): string {
  const { flag, key, about } = field;
  return [
    `## \`${name}\``,
    '',
    sentence(about),
    '',
    `- Type: ${typeOf(field)}`,
    `- Default: ${defaultOf(field)}`,
    ...(flag === undefined || name.startsWith('--') ? [] : [`- Flag: \`--${flag}\`${flagForm(field)}`]),
    ...(key === undefined ? [] : [`- Podwright's own key: \`${key.path}\``]),
    `- Status: ${statusOf(field)}`,
  ].join('\n');
}

function flagParts(): string[] {
  const list = Object.values(untyped(CADVISOR_FLAGS)).map(
    (field) => `- \`--${field.flag}\`: ${typeOf(field)}, default ${defaultOf(field)}`,
  );
  const byFlag = Object.values(untyped(FLAG_ONLY_FIELDS)).map((field): [string, Field] => [`--${field.flag}`, field]);
  return [
    'These flags have no field in a `KubeletConfiguration`. `--config`, `--config-dir`, `--help`, `--version` and the flags of every command (`podwright help settings`) are not listed.',
    entriesOf(Object.fromEntries(byFlag)),
    '## Flags of cAdvisor',
    "Upstream's kubelet accepts these flags and deprecates them. Podwright accepts and ignores them, because it has no cAdvisor.",
    list.join('\n'),
  ];
}

function gateParts(): string[] {
  const listOf = (value: boolean) =>
    featureGates()
      .flatMap(({ name, behaves }) => (behaves === value ? [`- \`${name}\``] : []))
      .join('\n');
  return [
    '`featureGates` and `--feature-gates` accept the gates of Kubernetes 1.36 with their defaults and locks. An unknown gate, and a locked gate with another value, are errors. `AllAlpha` and `AllBeta` can only be false.',
    '`MemoryQoS` can be switched on and off. The gates below control what a kubelet does on its node: Podwright accepts only the value that matches its behaviour. All other gates accept both values and have no effect.',
    '## Only true',
    listOf(true),
    '## Only false',
    listOf(false),
  ];
}

function typeOf({ type }: Field): string {
  if (type.values !== undefined) return type.values.map((value) => `\`${value}\``).join(', ');
  const name = TYPE_NAMES.get(type);
  if (name === undefined) throw new Error(`the type ${type.name} has no name for the documents`);
  return name;
}

/** Returns the syntax for passing a list or map to a flag; '' for other types. */
const flagForm = ({ type: { name } }: Field) => (name.includes('…') ? ` as \`${name}\`` : '');

function defaultOf({ type, fallback }: Field): string {
  if (fallback === undefined || fallback === '') return 'none';
  return `\`${type.name === 'duration' ? formatDuration(fallback as number) : JSON.stringify(fallback)}\``;
}

function statusOf({ effect }: Field): string {
  if (effect.kind === 'sets') return effect.how === undefined ? 'honored' : `honored: ${effect.how}`;
  if (effect.kind === 'nothing') return `accepted, without effect: ${effect.because}`;
  return `only ${effect.values} is accepted: ${effect.because}`;
}

const sentence = (about: string) => `${about[0]!.toUpperCase()}${about.slice(1)}.`;

/** Widens fields of specific types to `Field`. */
function untyped(fields: object): Record<string, Field> {
  return fields as Record<string, Field>;
}
