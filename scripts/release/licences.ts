import { readFileSync } from 'node:fs';
import type { BundledPackage } from './bundled-packages.ts';
import { NODE_VERSION, nodeBinary } from './node-binary.ts';

/** The text of `THIRD-PARTY-LICENSES`. Node.js's own license file covers V8, OpenSSL and its other parts. */
export function thirdPartyLicences(packages: BundledPackage[]): string {
  const sections = packages.map(({ name, version, license, licenceText }) =>
    section(`${name} ${version} (${license})`, licenceText),
  );
  const node = section(`Node.js ${NODE_VERSION}`, readFileSync(nodeBinary('x64').licence, 'utf8'));
  return ['The executable podwright contains these programs and packages.\n', ...sections, node].join('\n');
}

function section(title: string, text: string): string {
  return `${'='.repeat(80)}\n${title}\n${'='.repeat(80)}\n\n${text.trim()}\n`;
}
