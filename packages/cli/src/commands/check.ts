import { counted, silentLogger } from '@podwright/base';
import { decodeManifests } from '@podwright/kube-api';
import { thisHost } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { kubeletOptionsOf, STANDALONE_NODE_DEFAULTS } from '../daemon/kubelet-options.ts';
import { findingLine, ofManifest, type PlacedFinding, placeFindings, unplaced } from '../manifests/findings.ts';
import { foresee, type NamedImage } from '../manifests/foresee.ts';
import { readSources } from '../manifests/manifest-sources.ts';
import { type ManifestOptions, manifestNames } from '../manifests/read-manifests.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { terminalWidth } from '../output/terminal.ts';
import { escapeTerminal } from '../output/terminal-text.ts';
import { wrapText } from '../output/wrap.ts';
import type { CommandContext, NodeConfig } from '../settings/node-config.ts';

export type CheckOptions = ManifestOptions & { output: OutputFormat };

/**
 * `podwright check FILE…`: reports errors in manifests and problems that their pods would have. Does not need a node. Returns exit code 1
 * if there is a problem.
 */
export async function check({ settings }: CommandContext, files: string[], options: CheckOptions): Promise<number> {
  const config = await settings();
  const checked = await checkManifests(config, manifestNames('check', files, options), options);
  const { findings, counts, images } = checked;
  const problems = findings.filter(({ severity }) => severity === 'problem').length;
  await printAs(options.output, { findings, objects: counts, images }, () =>
    wrapText([...findings.map(lineOf), ...imageLines(images), summary(checked, problems)].join('\n'), terminalWidth()),
  );
  return problems > 0 ? 1 : 0;
}

/** The result of checking manifests. `counts`: the number of objects by kind, including objects with errors. */
type Checked = { findings: PlacedFinding[]; counts: Record<string, number>; images: NamedImage[] };

async function checkManifests(config: NodeConfig, names: string[], options: ManifestOptions): Promise<Checked> {
  const { texts, problems } = await readSources(names, options);
  const client = new NodeClient(config.apiSocket);
  const otherKinds = (await client.hasKubernetesApi()) !== false; // 'podwright run' starts a node that has one
  const decoded = decodeManifests(texts, { ...options, templates: true, otherKinds });
  const node = { runtimeEndpoint: '', criApiVersion: 'auto' as const, defaults: STANDALONE_NODE_DEFAULTS };
  const readHost = () => thisHost({ ...kubeletOptionsOf(config, node), logger: silentLogger });
  const { findings: found, images, unseen } = await foresee(decoded, client, readHost);
  const counts: Record<string, number> = {};
  const refused = decoded.refused
    .map((label) => label.split(' ')[0]!)
    .filter((kind) => /^[A-Z][A-Za-z]{0,60}$/.test(kind));
  for (const kind of [...[...decoded.objects, ...decoded.others].map(({ object }) => object.kind), ...refused])
    counts[kind] = (counts[kind] ?? 0) + 1;
  const findings = [
    ...decoded.errors.map((error) => ofManifest(error, 'problem')),
    ...[...decoded.leftOut, ...decoded.warnings].map((error) => ofManifest(error, 'note')),
    ...placeFindings(found, decoded),
  ];
  const order = new Map(texts.map(({ file }, index) => [file, index]));
  findings.sort((a, b) => order.get(a.file)! - order.get(b.file)! || a.line - b.line || a.column - b.column);
  const unread = problems.map(({ message }) => unplaced('problem', message));
  const notSeen = unseen.map((message) => unplaced('note', message));
  return { findings: [...unread, ...notSeen, ...findings], counts, images };
}

/** Lists the images. Shows whether they are present on the host only if a node is running. */
function imageLines(images: NamedImage[]): string[] {
  if (images.length === 0) return [];
  const shown = images.map(({ name, onNode }) => `${name}${onNode === false ? ' (not on this host yet)' : ''}`);
  return [escapeTerminal(`images: ${shown.join(', ')}`)];
}

function lineOf(finding: PlacedFinding): string {
  return escapeTerminal(`${finding.severity}: ${findingLine(finding)}`);
}

/** Returns a summary such as `checked 2 Pods and 1 Secret: 1 problem, 2 notes`. */
function summary({ findings, counts }: Checked, problems: number): string {
  const objects = Object.entries(counts).map(([kind, count]) => counted(count, kind, pluralOf(kind)));
  const listed = [objects.slice(0, -1).join(', '), ...objects.slice(-1)].filter(Boolean).join(' and ');
  const notes = findings.length - problems;
  const found = [
    problems === 0 ? 'no problems' : counted(problems, 'problem'),
    ...(notes > 0 ? [counted(notes, 'note')] : []),
  ];
  return `${listed === '' ? '' : `checked ${listed}: `}${found.join(', ')}`;
}

/** Returns the plural of a kind if it is not formed by adding `s`, such as NetworkPolicies. */
function pluralOf(kind: string): string | undefined {
  if (/(s|x|ch)$/.test(kind)) return `${kind}es`;
  return /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : undefined;
}
