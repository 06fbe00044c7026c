/** The bill of materials in CycloneDX: npm's, reduced to the packages whose code is included in the executable, plus Node.js. */
import { createHash } from 'node:crypto';
import type { BundledPackage } from './bundled-packages.ts';
import { NODE_VERSION } from './node-binary.ts';
import { run } from './run.ts';

type Component = { 'bom-ref': string; name: string; version: string; [key: string]: unknown };
type Sbom = {
  serialNumber: string;
  metadata: { timestamp: string; component: Component; [key: string]: unknown };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

const NODE: Component = {
  'bom-ref': `node@${NODE_VERSION}`,
  type: 'application',
  name: 'node',
  version: NODE_VERSION,
  purl: `pkg:generic/node@${NODE_VERSION}`,
  licenses: [{ license: { id: 'MIT' } }],
};

export type SbomOptions = { version: string; packages: BundledPackage[]; epoch: number };

export function makeSbom({ version, packages, epoch }: SbomOptions): string {
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
  const all = JSON.parse(run('npm', ['sbom', '--sbom-format', 'cyclonedx'], { env })) as Sbom;
  const own = (ref: string) => packages.some((one) => `${one.name}@${one.version}` === ref);
  const found = all.components.filter((component) => own(component['bom-ref']));
  const missing = packages.filter(
    ({ name }) => !found.some((component) => component['bom-ref'].startsWith(`${name}@`)),
  );
  if (missing.length > 0) throw new Error(`npm sbom does not name ${missing.map(({ name }) => name).join(', ')}`);
  const components = [...found, NODE];
  const ref = `podwright@${version}`;
  const main = {
    'bom-ref': ref,
    type: 'application',
    name: 'podwright',
    version,
    licenses: [{ license: { id: 'Apache-2.0' } }],
  };
  const dependencies = [
    { ref, dependsOn: components.map((component) => component['bom-ref']) },
    ...components.map((component) => ({
      ref: component['bom-ref'],
      dependsOn: (all.dependencies.find((one) => one.ref === component['bom-ref'])?.dependsOn ?? []).filter(own),
    })),
  ];
  const metadata = { ...all.metadata, timestamp: new Date(epoch * 1000).toISOString(), component: main };
  return `${JSON.stringify({ ...all, serialNumber: serialOf(components), metadata, components, dependencies }, null, 2)}\n`;
}

/** A version 8 UUID (RFC 9562) derived from the content, so that identical releases have identical files. */
function serialOf(components: Component[]): string {
  const hex = createHash('sha256').update(JSON.stringify(components)).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}
