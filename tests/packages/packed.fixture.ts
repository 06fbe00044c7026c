/** The published packages as tarballs, and empty projects to install them in. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PublishedManifest } from '../../scripts/packages/manifest.ts';
import { pack, stage } from '../../scripts/packages/stage.ts';
import { publishedPackages, root } from '../../scripts/packages/workspace.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 120_000;

/** A README's arguments for `npm install`, and its example. */
export type Readme = { installs: string[]; example: string };

/** The entry for an installed package in package-lock.json. */
type LockEntry = { version?: string; link?: boolean; [field: string]: unknown };
type Dependent = { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> };

export class PackedPackages implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'podwright-packed-'));
  /** Names of the published packages, without the scope. */
  readonly names: string[];
  readonly #tarballs: Map<string, string>;

  constructor() {
    const packages = publishedPackages();
    this.names = packages.map(({ short }) => short);
    stage(packages, this.directory);
    const tarballs = pack(
      this.names.map((name) => this.staged(name)),
      join(this.directory, '.tarballs'),
    );
    this.#tarballs = new Map(packages.map(({ manifest }, index) => [manifest.name, tarballs[index]!]));
  }

  /** Returns the directory that the package's tarball was packed from. */
  staged(name: string): string {
    return join(this.directory, name);
  }

  tarball(name: string): string {
    return this.#tarballs.get(`@podwright/${name}`)!;
  }

  manifest(name: string): PublishedManifest {
    return JSON.parse(readFileSync(join(this.staged(name), 'package.json'), 'utf8'));
  }

  /** Returns the names of a package's direct and transitive dependencies, including optional ones for other platforms. */
  closureOf(name: string): string[] {
    const found = new Set<string>();
    const visit = ({ dependencies = {}, optionalDependencies = {} }: Dependent) => {
      for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) {
        const path = this.#tarballs.has(next) ? this.staged(next.split('/')[1]!) : join(root, 'node_modules', next);
        if (found.has(next)) continue;
        found.add(next);
        if (existsSync(path)) visit(JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')));
      }
    };
    visit(this.manifest(name));
    return [...found].sort();
  }

  exportsOf(name: string): string[] {
    const modules = Object.entries(this.manifest(name).exports).filter(([, target]) => typeof target === 'object');
    return modules.map(([path]) => join('@podwright', name, path));
  }

  /** Returns the README in the package's tarball; undefined if there is none or it does not contain an example. */
  readme(name: string): Readme | undefined {
    const path = join(this.staged(name), 'README.md');
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const [, example] = /^```ts\n([\s\S]*?)^```$/m.exec(text) ?? [];
    const [, install] = /^```sh\nnpm install (.+)\n```$/m.exec(text) ?? [];
    return example === undefined || install === undefined ? undefined : { installs: install.split(' '), example };
  }

  /**
   * Creates a project with just these packages, installed from the tarballs. The lock file has the same versions as the workspace, so npm
   * normally finds them in its cache, where installing the workspace has put them; otherwise it uses the registry.
   */
  async install(project: string): Promise<void> {
    const dependencies = Object.fromEntries([...this.#tarballs].map(([name, path]) => [name, `file:${path}`]));
    const manifest = { name: 'empty', version: '1.0.0', private: true, type: 'module', dependencies };
    const own = this.names.map((name): [string, LockEntry] => {
      const entry = { ...this.manifest(name), resolved: `file:${this.tarball(name)}`, integrity: undefined };
      return [`node_modules/@podwright/${name}`, entry];
    });
    const needed = new Set(this.names.flatMap((name) => this.closureOf(name)));
    const outside = Object.entries(workspaceLock()).filter(([path, { link }]) => {
      const names = path.split('node_modules/').map((name) => name.replace(/\/$/, ''));
      return path.startsWith('node_modules/') && !link && names.slice(1).every((name) => needed.has(name));
    });
    const packages = Object.fromEntries([
      ['', manifest],
      ...outside.map(([path, entry]) => [path, { ...entry, dev: undefined }]),
      ...own,
    ]);
    await mkdir(project, { recursive: true });
    await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
    await writeFile(
      join(project, 'package-lock.json'),
      JSON.stringify({ name: 'empty', version: '1.0.0', lockfileVersion: 3, requires: true, packages }),
    );
    const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
    await run('npm', ['ci', ...flags], { cwd: project, env, timeout: TIMEOUT_MS });
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function workspaceLock(): Record<string, LockEntry> {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
}

/** Returns TypeScript's errors for files of a project, checked in strict mode and including the packages' declarations. */
export async function typeErrors(project: string, files: string[]): Promise<string> {
  const compilerOptions = { strict: true, skipLibCheck: false, module: 'nodenext', target: 'es2023', noEmit: true };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [tsc, '-p', project], { timeout: TIMEOUT_MS }).catch((error) => error);
  return stdout;
}

/** Runs a program in a project as plain JavaScript; returns its standard output. */
export async function runJavaScript(project: string, program: string, args: string[] = []): Promise<string> {
  const path = join(project, `program-${randomUUID()}.js`);
  await writeFile(path, stripTypeScriptTypes(program));
  const { stdout } = await run(process.execPath, [path, ...args], { cwd: project, timeout: TIMEOUT_MS });
  return stdout;
}
