import { dirname, resolve } from 'node:path';
import { didYouMean, errorMessage, PodwrightError } from '@podwright/base';
import { parse } from 'yaml';
import { parseServer } from '../client/create-kube-client.ts';
import { Fields } from './fields.ts';

/** Data embedded in the kubeconfig, or a reference to a file. `field` is the location shown in errors. */
export type Material = { field: string; data: Buffer } | MaterialFile;

export type MaterialFile = { field: string; path: string };

/** The credential plugin to run (client.authentication.k8s.io). */
export type ExecConfig = {
  command: string;
  args: string[];
  env: { name: string; value: string }[];
  apiVersion: string;
  installHint?: string;
  provideClusterInfo: boolean;
  interactiveMode: 'Never' | 'IfAvailable' | 'Always';
};

export type Cluster = {
  server: string;
  ca?: Material;
  serverName?: string;
  insecureSkipTlsVerify: boolean;
  /** Additional cluster data for a credential plugin (extension `client.authentication.k8s.io/exec`). */
  execConfig?: unknown;
};

export type User = {
  certificate?: Material;
  key?: Material;
  token?: string;
  tokenFile?: MaterialFile;
  basic?: { username: string; password: string };
  exec?: ExecConfig;
};

/** A validated context of a kubeconfig. The files it refers to have not been read yet. */
export type ParsedKubeconfig = { context: string; namespace: string; cluster: Cluster; user: User };

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';
const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'] as const;

/**
 * Parses one context of a kubeconfig, by default `current-context`. Relative paths are resolved against the kubeconfig's directory. As in
 * upstream, unknown fields are ignored; known but unsupported fields are rejected by name.
 */
export function parseKubeconfig(text: string, file: string, contextName?: string): ParsedKubeconfig {
  const root = new Fields(parseYaml(text, file), file);
  checkKind(root);
  const name = contextName ?? root.text('current-context');
  const contexts = named(root, 'contexts');
  if (name === undefined)
    throw root.error('current-context', `no context is chosen; set it to one of: ${shownNames(contexts)}`);
  const context = chosen(contexts, name, () =>
    contextName === undefined ? root.error('current-context', '') : root.error('contexts', ''),
  );
  const parts = context.part('context') ?? new Fields({}, file, `contexts[${JSON.stringify(name)}].context`);
  const cluster = reference(parts, 'cluster', named(root, 'clusters'));
  const user = reference(parts, 'user', named(root, 'users'));
  const directory = dirname(resolve(file));
  return {
    context: name,
    namespace: parts.text('namespace') ?? 'default',
    cluster: parseCluster(cluster, directory),
    user: parseUser(user, directory),
  };
}

function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text, { logLevel: 'error' });
  } catch (error) {
    // keep only the first line: the rest quotes the kubeconfig, which might contain a key
    const [first = ''] = errorMessage(error).split('\n');
    throw new PodwrightError('invalid_argument', `${file}: no YAML: ${first.replace(/:$/, '')}`);
  }
}

function checkKind(root: Fields): void {
  const [apiVersion = 'v1', kind = 'Config'] = [root.text('apiVersion'), root.text('kind')];
  if (kind !== 'Config') throw root.error('kind', `${JSON.stringify(kind)} is no kubeconfig, whose kind is "Config"`);
  if (apiVersion !== 'v1')
    throw root.error('apiVersion', `${JSON.stringify(apiVersion)} is not known; kubeconfigs have "v1"`);
}

function named(root: Fields, list: string): Map<string, Fields> {
  const parts = new Map<string, Fields>();
  for (const part of root.parts(list)) {
    const name = part.requiredText('name');
    if (parts.has(name)) throw part.error('name', 'the name occurs twice; remove one of the two');
    parts.set(name, part);
  }
  return parts;
}

function chosen(parts: Map<string, Fields>, name: string, about: () => PodwrightError): Fields {
  const part = parts.get(name);
  if (part !== undefined) return part;
  const { message } = about();
  throw new PodwrightError(
    'invalid_argument',
    `${message}there is no ${JSON.stringify(name)}, only: ${shownNames(parts)}${didYouMean(name, parts.keys())}`,
  );
}

function reference(context: Fields, name: 'cluster' | 'user', parts: Map<string, Fields>): Fields {
  const part = chosen(parts, context.requiredText(name), () => context.error(name, ''));
  const inner = part.part(name);
  if (inner === undefined) throw part.error(name, 'it is missing');
  return inner;
}

function shownNames(parts: Map<string, unknown>): string {
  return [...parts.keys()].slice(0, 20).join(', ') || 'none';
}

function parseCluster(fields: Fields, directory: string): Cluster {
  const server = fields.requiredText('server');
  try {
    parseServer(server);
  } catch (error) {
    throw fields.error('server', errorMessage(error).replace(/^server /, ''));
  }
  if (fields.has('proxy-url') && fields.raw('proxy-url') !== '')
    throw fields.error('proxy-url', 'proxies are not supported; remove it, and let the node reach the server directly');
  const ca = material(fields, 'certificate-authority', directory);
  const insecureSkipTlsVerify = fields.flag('insecure-skip-tls-verify');
  if (insecureSkipTlsVerify && ca !== undefined)
    throw fields.error('insecure-skip-tls-verify', 'an authority is given, too: remove one of the two');
  const extension = fields.parts('extensions').find((part) => part.text('name') === EXEC_EXTENSION);
  return {
    server,
    ca,
    serverName: fields.text('tls-server-name'),
    insecureSkipTlsVerify,
    execConfig: extension?.raw('extension'),
  };
}

function parseUser(fields: Fields, directory: string): User {
  refuseUnsupported(fields);
  const certificate = material(fields, 'client-certificate', directory);
  const key = material(fields, 'client-key', directory);
  if (certificate !== undefined && key === undefined)
    throw fields.error('client-key', 'client-certificate has no key; name its file here, or give client-key-data');
  const tokenFile = fields.text('tokenFile');
  const token = fields.text('token');
  const [username, password] = [fields.text('username'), fields.text('password')];
  const hasBasic = username !== undefined || password !== undefined;
  if (token !== undefined && hasBasic) throw fields.error('token', 'username or password is given, too: remove one');
  if (/[\r\n]/.test(`${token}${username}${password}`))
    throw fields.error(token === undefined ? 'password' : 'token', 'it has more than one line');
  const exec = fields.part('exec');
  return {
    ...(certificate === undefined ? {} : { certificate, key }),
    token,
    tokenFile:
      tokenFile === undefined
        ? undefined
        : { field: fields.error('tokenFile', '').message, path: resolve(directory, tokenFile) },
    ...(hasBasic ? { basic: { username: username ?? '', password: password ?? '' } } : {}),
    ...(exec === undefined ? {} : { exec: parseExec(exec, directory) }),
  };
}

/** Rejects unsupported fields, because ignoring them would change the client's identity. */
function refuseUnsupported(fields: Fields): void {
  for (const name of ['as', 'as-uid', 'as-groups', 'as-user-extra'])
    if (fields.has(name)) throw fields.error(name, 'impersonation is not supported; remove it');
  if (fields.has('auth-provider'))
    throw fields.error('auth-provider', 'Kubernetes has removed auth providers; use an exec plugin');
}

function parseExec(fields: Fields, directory: string): ExecConfig {
  const command = fields.requiredText('command');
  const apiVersion = fields.requiredText('apiVersion');
  if (!EXEC_VERSIONS.includes(apiVersion))
    throw fields.error('apiVersion', `${JSON.stringify(apiVersion)} is not known, only ${EXEC_VERSIONS.join(' and ')}`);
  const mode = fields.text('interactiveMode') ?? (apiVersion.endsWith('/v1') ? undefined : 'IfAvailable');
  const interactiveMode = INTERACTIVE_MODES.find((known) => known === mode);
  if (interactiveMode === undefined)
    throw fields.error(
      'interactiveMode',
      `${mode === undefined ? 'it is missing' : JSON.stringify(mode)}; it is one of ${INTERACTIVE_MODES.join(', ')}`,
    );
  if (interactiveMode === 'Always')
    throw fields.error('interactiveMode', '"Always": a node has no user to answer the plugin');
  const env = fields.parts('env').map((one) => ({ name: one.requiredText('name'), value: one.text('value') ?? '' }));
  return {
    command: command.includes('/') ? resolve(directory, command) : command,
    args: fields.texts('args'),
    env,
    apiVersion,
    installHint: fields.text('installHint'),
    provideClusterInfo: fields.flag('provideClusterInfo'),
    interactiveMode,
  };
}

function material(fields: Fields, name: string, directory: string): Material | undefined {
  const [path, data] = [fields.text(name), fields.data(`${name}-data`)];
  if (path !== undefined && data !== undefined)
    throw fields.error(name, `${name}-data is given, too: remove one of the two`);
  if (data !== undefined) return { field: fields.error(`${name}-data`, '').message, data };
  return path === undefined ? undefined : { field: fields.error(name, '').message, path: resolve(directory, path) };
}
