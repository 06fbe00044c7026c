import { counted, silentLogger } from '@podwright/base';
import { type DecodedManifest, decodeManifests, preflight, thisHost } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { kubeletOptionsOf, LONE_NODE_DEFAULTS } from '../daemon/kubelet-options.ts';
import { findingLine, ofManifest, type PlacedFinding, placeFindings } from '../manifests/findings.ts';
import { readSources } from '../manifests/manifest-sources.ts';
import { type NamedImage, namedImages } from '../manifests/named-images.ts';
import { type ManifestOptions, manifestNames } from '../manifests/read-manifests.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { terminalWidth } from '../output/terminal.ts';
import { escapeTerminal } from '../output/terminal-text.ts';
import { wrapText } from '../output/wrap.ts';
import type { CommandContext, NodeConfig } from '../settings/node-config.ts';

export type CheckOptions = ManifestOptions & { output: OutputFormat };

/** `podwright check FILE…`: what is wrong with manifests, and what pods will meet, as far as it can be told without a node. */
export async function check({ settings }: CommandContext, files: string[], options: CheckOptions): Promise<number> {
  const config = await settings();
  const { findings, counts, decoded } = await checkManifests(config, manifestNames('check', files, options), options);
  const images = await namedImages(decoded, new NodeClient(config.apiSocket));
  const problems = findings.filter(({ severity }) => severity === 'problem').length;
  await printAs(options.output, { findings, objects: counts, images }, () =>
    wrapText(
      [...findings.map(lineOf), ...imageLines(images), summary(problems, findings.length - problems, counts)].join(
        '\n',
      ),
      terminalWidth(),
    ),
  );
  return problems > 0 ? 1 : 0;
}

type Counts = Record<string, number>;

async function checkManifests(
  config: NodeConfig,
  names: string[],
  options: ManifestOptions,
): Promise<{ findings: PlacedFinding[]; counts: Counts; decoded: DecodedManifest }> {
  const { texts, problems } = await readSources(names, options);
  const decoded = decodeManifests(texts, options);
  const place = { runtimeEndpoint: '', criApiVersion: 'auto' as const, defaults: LONE_NODE_DEFAULTS };
  const host = await thisHost({ ...kubeletOptionsOf(config, place), logger: silentLogger });
  const found = preflight(
    decoded.objects.map(({ object }) => object),
    { ...host, refused: decoded.refused },
  );
  const counts: Counts = {};
  for (const { object } of decoded.objects) counts[object.kind] = (counts[object.kind] ?? 0) + 1;
  const findings = [
    ...decoded.errors.map((error) => ofManifest(error, 'problem')),
    ...[...decoded.leftOut, ...decoded.warnings].map((error) => ofManifest(error, 'note')),
    ...placeFindings(found, decoded),
  ];
  const order = new Map(texts.map(({ file }, index) => [file, index]));
  findings.sort((a, b) => order.get(a.file)! - order.get(b.file)! || a.line - b.line || a.column - b.column);
  const unread = problems.map(({ message }): PlacedFinding => {
    return { severity: 'problem', file: '', line: 0, column: 0, field: '', message };
  });
  return { findings: [...unread, ...findings], counts, decoded };
}

/** Without a node it is only told which they are. */
function imageLines(images: NamedImage[]): string[] {
  if (images.length === 0) return [];
  const shown = images.map(({ name, onNode }) => `${name}${onNode === false ? ' (not on this host yet)' : ''}`);
  return [escapeTerminal(`images: ${shown.join(', ')}`)];
}

function lineOf(finding: PlacedFinding): string {
  return escapeTerminal(`${finding.severity}: ${findingLine(finding)}`);
}

function summary(problems: number, notes: number, counts: Counts): string {
  const objects = Object.entries(counts).map(([kind, count]) =>
    counted(count, kind, kind.endsWith('s') ? `${kind}es` : undefined),
  );
  const found = [
    problems === 0 ? 'no problems' : counted(problems, 'problem'),
    ...(notes > 0 ? [counted(notes, 'note')] : []),
  ];
  return `${found.join(', ')}${objects.length > 0 ? `; good: ${objects.join(', ')}` : ''}`;
}
