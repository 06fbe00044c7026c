/** The npm packages whose code is included in the executable. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Metafile } from 'esbuild';

export type BundledPackage = { name: string; version: string; license: string; licenceText: string };

const NODE_MODULES = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//;

export function bundledPackages(metafile: Metafile): BundledPackage[] {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs: parts }) =>
    Object.entries(parts).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  const names = inputs.flatMap((file) => NODE_MODULES.exec(file)?.[1] ?? []);
  // koffi's native part is not an esbuild input, so add its package
  return [...new Set([...names, '@koromix/koffi-linux-x64'])].sort().map(describePackage);
}

function describePackage(name: string): BundledPackage {
  const directory = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${directory}/package.json`, 'utf8')) as BundledPackage;
  const file = readdirSync(directory).find((entry) => /^(?:licen[cs]e|copying)(?:\.|$)/i.test(entry));
  const licenceText =
    file === undefined
      ? `No file with the licence in the package; it is ${license}.`
      : readFileSync(`${directory}/${file}`, 'utf8');
  return { name, version, license, licenceText };
}
