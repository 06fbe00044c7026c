import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { AnySchema, timestampMs } from '@bufbuild/protobuf/wkt';
import { errorMessage, PodwrightError, withTimeout, wrapError } from '@podwright/base';
import { type ProgramStarter, runProgram } from '@podwright/host';
import { BootstrapParamsSchema } from './gen/containerd/runtime/bootstrap/v1/bootstrap_pb.js';
import { DeleteResponseSchema } from './gen/containerd/task/v2/shim_pb.js';
import { PROGRAM_ERROR_CHARACTERS, PROGRAM_TIMEOUT_MS } from './limits.ts';
import { parseStartAnswer, type ShimEndpoint } from './shim-endpoint.ts';

/** A shim's binary, such as `containerd-shim-runc-v2`. */
export type ShimProgram = {
  path: string;
  /** Shim-specific options: the full name of a protobuf message, and its encoding in base64. */
  options?: { typeUrl: string; value: string };
};

/** Parameters for calling a shim's binary. */
export type ShimCall = {
  program: ShimProgram;
  /** Id of the task or sandbox. */
  id: string;
  /** Directory of the `config.json`. Its last component must be the id. */
  bundle: string;
};

/** Properties of the runtime that are passed to its shims. */
export type ShimHome = {
  /** containerd's namespace, by which shims separate tasks. */
  namespace: string;
  /** Socket of the event service. It also distinguishes the shims of this runtime from those of others. */
  events: string;
  /** Program with which shims publish their events if they do not use the event service. */
  publisher: string;
  /** Starts the shims' binaries. */
  start?: ProgramStarter;
};

/** The error of shims since containerd 2.4 if they are called in the way of containerd before 2.3. */
const wantsBootstrap = /deprecated API/;

/**
 * Appended to options to make them invalid as bootstrap parameters, where field 4 is a string: these bytes are a field 4 of invalid UTF-8.
 * Shims of containerd 2.3 accept both options and bootstrap parameters on stdin, but try the parameters first; they would parse plain
 * options as such, with the type of the options as the task's id.
 */
const notBootstrap = Uint8Array.of((4 << 3) | 2, 1, 0xff);

/**
 * Runs the binary to start a shim, or to get the address of the shim that already serves the group in the bundle's annotations (containerd,
 * "Runtime v2": Commands, Start). An abort of the signal does not kill the running binary, because that could leave an unknown socket or
 * shim.
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

/** Stdin for shims before containerd 2.3; empty if there are no options. */
function optionsOf({ program: { options } }: ShimCall): Uint8Array {
  if (options === undefined) return new Uint8Array();
  return Buffer.concat([toBinary(AnySchema, create(AnySchema, packOptions(options))), notBootstrap]);
}

/** Stdin for shims since containerd 2.3. */
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

/** Runs the binary to remove the leftovers of a dead shim, including the processes of its task. Returns how the task ended. */
export async function deleteDeadShim(
  home: ShimHome,
  call: ShimCall,
  signal?: AbortSignal,
): Promise<{ exitCode: number; exitedAtMs: number }> {
  const output = await run(`clean up after the shim of ${call.id}`, { home, call, action: 'delete' }, signal);
  const { exitStatus, exitedAt } = fromBinary(DeleteResponseSchema, output);
  return { exitCode: exitStatus, exitedAtMs: exitedAt === undefined ? Date.now() : timestampMs(exitedAt) };
}

/** The options as fields of a `google.protobuf.Any`. */
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
    MAX_SHIM_VERSION: '2', // the highest that shims of containerd 1.7 support; later ones serve 3 regardless
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
