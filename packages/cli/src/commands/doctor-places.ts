import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { counted, errorMessage, isErrno } from '@podwright/base';
import type { NodeConfig } from '../settings/node-config.ts';
import type { HostProgram } from './install-hint.ts';

/**
 * A finding: one line of the `doctor` report. `fix` says how to solve the problem; `lacks` lists the programs that `doctor --fix` would
 * install.
 */
export type Finding = {
  what: string;
  level: 'ok' | 'note' | 'missing';
  message: string;
  fix?: string;
  lacks?: HostProgram[];
};

/** Checks the files and directories that configure a node. */
export function placeFindings(config: NodeConfig): Finding[] {
  const seccomp = join(config.root, 'kubelet', 'seccomp');
  return [
    {
      what: 'configuration',
      level: 'ok',
      message: existsSync(config.file) ? config.file : `the defaults: there is no ${config.file}`,
    },
    directoryFinding('manifests', config.manifests, (names) => counted(manifestsOf(names).length, 'file')),
    directoryFinding(
      'registries',
      config.runtime.registry_config_dir,
      registriesIn(config.runtime.registry_config_dir),
    ),
    directoryFinding(
      'seccomp files',
      seccomp,
      (names) => `${counted(names.length, 'profile')} for seccompProfile type Localhost`,
    ),
  ];
}

const manifestsOf = (names: string[]) => names.filter((name) => /^[^.].*\.(ya?ml|json)$/.test(name));

/**
 * Returns a function that describes the entries of a registry configuration directory: the registries with settings, marked if they have a
 * `hosts.toml`.
 */
function registriesIn(directory: string): (names: string[]) => string {
  return (names) => {
    const own = names.map((name) => (existsSync(join(directory, name, 'hosts.toml')) ? `${name} (hosts.toml)` : name));
    return own.length === 0 ? 'no settings for registries' : own.join(', ');
  };
}

/** Reports the contents of a configuration directory, as formatted by `describe`. A missing directory is not a problem. */
function directoryFinding(what: string, directory: string, describe: (names: string[]) => string): Finding {
  try {
    if (!statSync(directory).isDirectory())
      return {
        what,
        level: 'note',
        message: `${directory} is not a directory`,
        fix: `replace it: move ${directory} away, then mkdir ${directory}`,
      };
    return { what, level: 'ok', message: `${directory}: ${describe(readdirSync(directory).sort())}` };
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return { what, level: 'ok', message: `${directory} does not exist` };
    return {
      what,
      level: 'note',
      message: isErrno(error, 'EACCES') ? `only root may read ${directory}` : errorMessage(error),
    };
  }
}
