import { join } from 'node:path';
import type { RuntimeOptions } from '@podwright/runtime';
import { durationMs } from '../settings/duration.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import { DEFAULT_STATE } from '../settings/node-paths.ts';

/** The NRI socket and plugin directory shared by all container runtimes on a host, as in containerd. */
const HOST_SOCKET = '/var/run/nri/nri.sock';
const HOST_PLUGINS = '/opt/nri/plugins';

type Nri = NodeConfig['runtime']['nri'];

/**
 * Converts a node's NRI settings. By default, only a node with the default state directory uses the host's socket and plugins, so that
 * nodes on the same host do not compete for them. Other nodes default to a socket in their state directory, and no pre-installed plugins.
 */
export function nriOptions({ runtime: { nri }, state }: NodeConfig): RuntimeOptions['nri'] {
  if (nri.disable) return undefined;
  const isHostWide = state === DEFAULT_STATE;
  return {
    socketPath: nri.disable_connections
      ? ''
      : (nri.socket_path ?? (isHostWide ? HOST_SOCKET : join(state, 'nri', 'nri.sock'))),
    pluginPath: nri.plugin_path ?? (isHostWide ? HOST_PLUGINS : ''),
    pluginConfigPath: nri.plugin_config_path,
    registrationTimeoutMs: durationMs(nri.plugin_registration_timeout),
    requestTimeoutMs: durationMs(nri.plugin_request_timeout),
    ...(nri.default_validator.enable ? { validator: validatorSettings(nri.default_validator) } : {}),
  };
}

function validatorSettings(validator: Nri['default_validator']) {
  return {
    rejectOciHooks: validator.reject_oci_hook_adjustment,
    rejectRuntimeDefaultSeccomp: validator.reject_runtime_default_seccomp_adjustment,
    rejectUnconfinedSeccomp: validator.reject_unconfined_seccomp_adjustment,
    rejectCustomSeccomp: validator.reject_custom_seccomp_adjustment,
    rejectNamespaces: validator.reject_namespace_adjustment,
    rejectSysctls: validator.reject_sysctl_adjustment,
    requiredPlugins: validator.required_plugins,
    tolerateMissingAnnotation: validator.tolerate_missing_plugins_annotation,
  };
}
