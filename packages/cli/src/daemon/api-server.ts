import { CLIENT_CERTIFICATE_LIFE_MS, startApiServer } from '@podwright/api-server';
import { createLogger } from '@podwright/base';
import { requireSocketPath, writeFileAtomic } from '@podwright/host';
import { apiServerPaths } from '../settings/api-server-paths.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import { AdminKubeconfig } from './admin-kubeconfig.ts';
import { beginDaemon } from './begin-daemon.ts';
import { limitStrangers } from './stranger-connections.ts';

/** The user of the administrator's kubeconfig. */
export const ADMINISTRATOR = { username: 'kubernetes-admin', groups: ['system:masters'] };

export type ApiServerSettings = {
  listen: { host: string; port: number };
  names?: string[];
  /** Paths of the audit log and of its policy. */
  auditLog?: string;
  auditPolicy?: string;
  /** What a confirmed write survives: a process crash, or a power failure. */
  durability?: 'process' | 'power';
};

/** `podwright apiserver`: serves the Kubernetes API until a signal stops it. */
export async function runApiServer(config: NodeConfig, settings: ApiServerSettings): Promise<void> {
  const { listen, names, auditLog, auditPolicy, durability } = settings;
  const { stopped } = beginDaemon(config);
  const { directory, socketPath, kubeconfig } = apiServerPaths(config);
  requireSocketPath(socketPath);
  const logger = createLogger({ name: 'apiserver', level: config.log_level });
  const audit = auditOptions({ auditLog, auditPolicy });
  const strangers = limitStrangers();
  const server = await startApiServer({ directory, socketPath, listen, strangers, names, audit, durability, logger });
  const write = () => writeFileAtomic(kubeconfig, server.kubeconfig(ADMINISTRATOR));
  using _ = await AdminKubeconfig.start({ write, lifeMs: CLIENT_CERTIFICATE_LIFE_MS, logger });
  logger.info({ url: server.url, socket: socketPath, kubeconfig }, 'the Kubernetes API is available');
  await stopped;
  await server.stop();
}

export const auditOptions = ({ auditLog, auditPolicy }: Pick<ApiServerSettings, 'auditLog' | 'auditPolicy'>) =>
  auditLog === undefined ? undefined : { path: auditLog, policyPath: auditPolicy };
