import { didYouMean } from '@podwright/base';
import type { ConfigProblem } from './config-problems.ts';
import type { RuntimeSettings } from './runtime-schema.ts';

const SNAPSHOTTERS = ['auto', 'overlayfs', 'native'];
const TASK_RUNTIMES = ['oci', 'shim-v2'];
const CONTROLLERS = ['pinned', 'pause', 'shim'];
/** Runtime handlers that exist without being configured if their program works on the host. */
const FOUND_HANDLERS = ['crun', 'runc'];

/** Reports conflicts between keys of `[runtime]`: references to unknown names, and mutually exclusive settings. */
export function referenceProblems(runtime: RuntimeSettings): ConfigProblem[] {
  const plugins = Object.keys(runtime.plugins);
  const unknown = (path: PropertyKey[], value: string, known: string[]) =>
    known.includes(value)
      ? []
      : [{ path: ['runtime', ...path], message: `is none of ${known.join(', ')}${didYouMean(value, known)}` }];
  const { default_handler: handler, oci_runtime: oci, handlers } = runtime;
  const own = [...Object.keys(handlers), ...FOUND_HANDLERS, ...(oci === '' ? [] : [oci.replace(/^.*\//, '')])];
  return [
    ...(handler === '' ? [] : unknown(['default_handler'], handler, [...new Set(own)])),
    ...unknown(['snapshotter'], runtime.snapshotter, [...SNAPSHOTTERS, ...plugins]),
    ...Object.entries(handlers).flatMap(([name, handler]) => [
      ...unknown(['handlers', name, 'task'], handler.task, [...TASK_RUNTIMES, ...plugins]),
      ...unknown(['handlers', name, 'sandbox'], handler.sandbox, [...CONTROLLERS, ...plugins]),
      ...handlerProblems(handler).map(({ path, message }) => ({
        path: ['runtime', 'handlers', name, ...path],
        message,
      })),
    ]),
    ...pluginProblems(plugins),
    ...streamingProblems(runtime),
    ...tcpProblems(runtime),
  ];
}

/** Reports mutually exclusive settings of one handler. */
function handlerProblems(handler: RuntimeSettings['handlers'][string]): ConfigProblem[] {
  const { task, program, sandbox, pause_image: image, shim } = handler;
  const problems: ConfigProblem[] = [];
  if (program !== '' && !TASK_RUNTIMES.includes(task))
    problems.push({
      path: ['program'],
      message: `is used with task = "oci" or "shim-v2" alone; see the settings of ${task}`,
    });
  if (image !== undefined && sandbox !== 'pause')
    problems.push({ path: ['pause_image'], message: 'is used with sandbox = "pause" alone' });
  if (sandbox === 'shim' && task !== 'shim-v2')
    problems.push({ path: ['sandbox'], message: 'needs task = "shim-v2": containers run in the sandbox of the shim' });
  if (shim !== undefined && task !== 'shim-v2')
    problems.push({ path: ['shim'], message: 'is used with task = "shim-v2" alone' });
  if (shim?.config_type !== undefined && shim.config_path === undefined)
    problems.push({ path: ['shim', 'config_type'], message: 'needs config_path' });
  return problems;
}

function pluginProblems(plugins: string[]): ConfigProblem[] {
  const taken = [...SNAPSHOTTERS, ...TASK_RUNTIMES, ...CONTROLLERS];
  return plugins
    .filter((id) => taken.includes(id))
    .map((id) => ({
      path: ['runtime', 'plugins', id],
      message: 'is the name of a built-in plugin; choose another',
    }));
}

function streamingProblems({ streaming_cert: cert, streaming_key: key }: RuntimeSettings): ConfigProblem[] {
  if ((cert === undefined) === (key === undefined)) return [];
  const [missing, other] =
    cert === undefined ? ['streaming_cert', 'streaming_key'] : ['streaming_key', 'streaming_cert'];
  return [{ path: ['runtime', missing!], message: `is needed with ${other}` }];
}

function tcpProblems({ tcp }: RuntimeSettings): ConfigProblem[] {
  if (tcp === undefined) return [];
  const files = ['cert', 'key', 'client_ca'] as const;
  const missing = files.filter((key) => tcp[key] === undefined);
  if (missing.length === 0 && !tcp.insecure) return [];
  if (!tcp.insecure) {
    const message = 'is needed: the CRI is served over TCP only to clients with a certificate of client_ca';
    return missing.map((key) => ({ path: ['runtime', 'tcp', key], message }));
  }
  if (missing.length < files.length)
    return [{ path: ['runtime', 'tcp', 'insecure'], message: 'excludes certificates; remove one of them' }];
  if (/^127\.|^::1$/.test(tcp.address)) return [];
  return [
    { path: ['runtime', 'tcp', 'insecure'], message: 'is for a loopback address only; set cert, key and client_ca' },
  ];
}
