import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { AnySchema, timestampMs } from '@bufbuild/protobuf/wkt';
import { errorMessage, PodwrightError, type ProgramStarter, runProgram, withTimeout, wrapError } from '@podwright/base';
import { BootstrapParamsSchema } from './gen/containerd/runtime/bootstrap/v1/bootstrap_pb.js';
import { DeleteResponseSchema } from './gen/containerd/task/v2/shim_pb.js';
import { PROGRAM_ERROR_CHARACTERS, PROGRAM_TIMEOUT_MS } from './limits.ts';
import { parseStartAnswer, type ShimEndpoint } from './shim-endpoint.ts';

/** A shim's binary, such as `containerd-shim-runc-v2`. */
export type ShimProgram = {
  path: string;
  /** Settings of the shim's own kind: a protobuf message by its full name, encoded as base64. */
  options?: { typeUrl: string; value: string };
};

/** What a shim's binary is called for. */
export type ShimCall = {
  program: ShimProgram;
  /** Of the task or sandbox. */
  id: string;
  /** Directory with its `config.json`; its last part must be the id. */
  bundle: string;
};

/** The runtime that starts shims, as they need to know it. */
export type ShimHome = {
  /** containerd's namespace: shims keep apart what has another one. */
  namespace: string;
  /** Socket of the event service. It also distinguishes the shims of one runtime from those of another. */
  events: string;
  /** Program that publishes events for shims that do not use the event service. */
  publisher: string;
  /** How shims' binaries are started. */
  start?: ProgramStarter;
};

/** In the error of shims since containerd 2.4 that are called as those before 2.3 were. */
const wantsBootstrap = /deprecated API/;

/**
 * Makes options unreadable as bootstrap parameters: there, field 4 is a text, and this one's is none. Shims of containerd 2.3
 * read either, but try the parameters first; plain options would pass for them, with the options' type as the task's id.
 */
const notBootstrap = Uint8Array.of((4 << 3) | 2, 1, 0xff);

/**
 * Has the binary start a shim, or name the one that already serves the group that the bundle's annotations name.
 * (containerd, "Runtime v2": Commands, Start.) When the signal aborts, the binary still comes to its end: killed, it may
 * leave a socket, or a shim, that is not known here.
 */
export async function startShim(home: ShimHome, call: ShimCall, signal: AbortSignal): Promise<ShimEndpoint> {
  const what = `start a shim for ${call.id} with ${call.program.path}`;
  const start = async (stdin: Uint8Array) => {
    signal.throwIfAborted();
    return await run(what, { home, call, action: 'start', stdin });
  };
  const output = await start(optionsOf(call)).catch((error) => {
    if (wantsBootstrap.test(errorMessage(error))) return start(bootstrapParams(home, call));
    throw error;
  });
  try {
    return parseStartAnswer(output);
  } catch (error) {
    throw wrapError(what, error);
  }
}

/** What shims before containerd 2.3 read on stdin; nothing, where there are no options. */
function optionsOf({ program: { options } }: ShimCall): Uint8Array {
  if (options === undefined) return new Uint8Array();
  return Buffer.concat([toBinary(AnySchema, create(AnySchema, packOptions(options))), notBootstrap]);
}

/** What later ones read. */
function bootstrapParams(
  { namespace, events, publisher }: ShimHome,
  { id, program: { options } }: ShimCall,
): Uint8Array {
  const params = create(BootstrapParamsSchema, {
    instanceId: id,
    namespace,
    containerdTtrpcAddress: events,
    containerdGrpcAddress: events,
    containerdBinary: publisher,
    extensions: options === undefined ? [] : [{ value: packOptions(options) }],
  });
  return toBinary(BootstrapParamsSchema, params);
}

/** Has the binary remove what a dead shim left, its task's processes among it. Returns how the task ended. */
export async function deleteDeadShim(
  home: ShimHome,
  call: ShimCall,
  signal?: AbortSignal,
): Promise<{ exitCode: number; exitedAtMs: number }> {
  const output = await run(`clean up after the shim of ${call.id}`, { home, call, action: 'delete' }, signal);
  const { exitStatus, exitedAt } = fromBinary(DeleteResponseSchema, output);
  return { exitCode: exitStatus, exitedAtMs: exitedAt === undefined ? Date.now() : timestampMs(exitedAt) };
}

/** The options as the message `google.protobuf.Any` has them. */
export function packOptions({ typeUrl, value }: { typeUrl: string; value: string }) {
  return { typeUrl, value: Buffer.from(value, 'base64') };
}

type Run = { home: ShimHome; call: ShimCall; action: 'start' | 'delete'; stdin?: Uint8Array };

async function run(what: string, { home, call, action, stdin }: Run, signal?: AbortSignal): Promise<Buffer> {
  const { program, id, bundle } = call;
  const { namespace, events, publisher, start } = home;
  const env = {
    ...process.env,
    GOMAXPROCS: '2',
    MAX_SHIM_VERSION: '2', // the highest that shims of containerd 1.7 know; later ones serve 3 all the same
    TTRPC_ADDRESS: events,
    GRPC_ADDRESS: events,
    NAMESPACE: namespace,
  };
  const common = ['-namespace', namespace, '-address', events, '-publish-binary', publisher, '-id', id];
  const args = [...common, '-bundle', bundle, action];
  using bound = withTimeout(signal, PROGRAM_TIMEOUT_MS, what);
  const result = await runProgram(program.path, args, { cwd: bundle, env, stdin, start, signal: bound });
  if (result.exitCode === 0) return result.stdoutBytes;
  const message = (result.stderr.trim() || result.stdout.trim()).slice(-PROGRAM_ERROR_CHARACTERS);
  throw new PodwrightError('internal', `${what}: ${message || `exit code ${result.exitCode}`}`);
}
