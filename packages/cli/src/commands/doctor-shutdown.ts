/** The `podwright doctor` finding about the graceful shutdown of pods. */
import { errorMessage } from '@podwright/base';
import { logindProblem } from '@podwright/kubelet';
import { fieldsOfTable, shutdownPeriods } from '@podwright/kubelet-configuration';
import { clusterSettings } from '../daemon/cluster-settings.ts';
import { clusterFiles } from '../settings/cluster-files.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import type { Finding } from './doctor-places.ts';

/** Returns the finding about graceful shutdown, or none if it is not configured. */
export async function shutdownFindings(config: NodeConfig): Promise<Finding[]> {
  const what = 'shutdown';
  try {
    if (!(await isWanted(config))) return [];
  } catch (error) {
    return [{ what, level: 'missing', message: errorMessage(error) }];
  }
  const problem = await logindProblem();
  if (problem === undefined) return [{ what, level: 'ok', message: 'systemd-logind waits for pods to end' }];
  return [
    {
      what,
      level: 'missing',
      message: `pods are not stopped before the host shuts down: ${problem}`,
      fix: 'install systemd-logind and D-Bus (Debian: packages systemd and dbus), or configure no shutdown grace period',
    },
  ];
}

async function isWanted(config: NodeConfig): Promise<boolean> {
  if (fieldsOfTable(config.kubelet).shutdownGracePeriod !== 0) return true;
  const files = clusterFiles(config);
  if (files === undefined) return false;
  return shutdownPeriods((await clusterSettings(config, files)).configuration).length > 0;
}
