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
  /** Shim-specific options: the fully qualified name of a protobuf message, and the base64-encoded message. */
  options?: { typeUrl: string; value: string };
};

/** Parameters for invoking a shim's binary. */
export type ShimCall = {
  program: ShimProgram;
  /** ID of the task or sandbox. */
  id: string;
  /** Directory that contains `config.json`. Its last path component must be the ID. */
  bundle: string;
};

/** Properties of this container runtime that are passed to its shims. */
export type ShimHome = {
  /** The containerd namespace. Shims keep the tasks of different namespaces apart. */
  namespace: string;
  /** Socket of the event service. It also distinguishes this runtime's shims from those of other runtimes. */
  events: string;
  /** Program that shims run to publish an event if they do not use the event service. */
  publisher: string;
  /** Starts the shims' binaries. */
  start?: ProgramStarter;
};

/** Matches the error of shims since containerd 2.4 that are invoked the way containerd did before 2.3. */
const wantsBootstrap = /deprecated API/;

/**
 * Appended to the options to make them invalid as bootstrap parameters: these bytes encode a field 4 that contains invalid UTF-8, and field
 * 4 of the bootstrap parameters is a string. Shims of containerd 2.3 accept both options and bootstrap parameters on stdin, but try
 * bootstrap parameters first. They would accept plain options as bootstrap parameters, and take the options' type URL for the task ID.
 */
const notBootstrap = Uint8Array.of((4 << 3) | 2, 1, 0xff);

/**
 * Runs the binary to start a shim, or to get the address of a shim that already serves the group named in the bundle's annotations
 * (containerd, "Runtime v2": Commands, Start). Aborting the signal does not kill the running binary, because that could leave behind an
 * unknown socket or shim.
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

/** Builds the stdin for shims before containerd 2.3; empty if there are no options. */
function optionsOf({ program: { options } }: ShimCall): Uint8Array {
  if (options === undefined) return new Uint8Array();
  return Buffer.concat([toBinary(AnySchema, create(AnySchema, packOptions(options))), notBootstrap]);
}

/** Builds the stdin for shims since containerd 2.3. */
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

/** Runs the binary to remove the leftovers of a dead shim, including its task's processes. Returns how the task exited. */
export async function deleteDeadShim(
  home: ShimHome,
  call: ShimCall,
  signal?: AbortSignal,
): Promise<{ exitCode: number; exitedAtMs: number }> {
  const output = await run(`clean up after the shim of ${call.id}`, { home, call, action: 'delete' }, signal);
  const { exitStatus, exitedAt } = fromBinary(DeleteResponseSchema, output);
  return { exitCode: exitStatus, exitedAtMs: exitedAt === undefined ? Date.now() : timestampMs(exitedAt) };
}

/** Returns the options as fields of a `google.protobuf.Any`. */
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
    MAX_SHIM_VERSION: '2', // the highest version that shims of containerd 1.7 support; later shims serve 3 regardless
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
