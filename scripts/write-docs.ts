/** Writes the documentation pages that are generated from tables in the code. Run by `make docs`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { kubeletConfigurationPages } from './kubelet-configuration-pages.ts';

const folder = new URL('../docs/kubelet-configuration/', import.meta.url);

mkdirSync(folder, { recursive: true });
const index = readFileSync(new URL('README.md', folder), 'utf8');
for (const [path, text] of kubeletConfigurationPages(index)) writeFileSync(new URL(path, folder), text);
