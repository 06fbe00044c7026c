import { errorCode, errorMessage } from '@podwright/base';
import { lookAtEngine } from '@podwright/dockershim';
import type { NodeConfig } from '../settings/node-config.ts';
import type { Finding } from './doctor-places.ts';

/** What a node with `runtime = "docker"` has of its Docker Engine, in the place of an OCI runtime and a network of its own. */
export async function dockerFindings({ dockershim }: Pick<NodeConfig, 'dockershim'>): Promise<Finding[]> {
  const socket = dockershim.docker_endpoint;
  const network: Finding = {
    what: 'network',
    level: 'ok',
    message: dockershim.network_plugin === 'cni' ? 'by CNI plugins' : "Docker's own bridge",
  };
  try {
    const { version, cgroupDriver, logDriver, hasLogFiles } = await lookAtEngine(socket);
    return [
      { what: 'Docker Engine', level: 'ok', message: `${version} on ${socket}, cgroup driver ${cgroupDriver}` },
      hasLogFiles
        ? { what: 'log driver', level: 'ok', message: logDriver }
        : {
            what: 'log driver',
            level: 'note',
            message: `${logDriver}: logs are read through the Engine, and not by collectors of log files`,
            fix: '"log-driver": "json-file" in /etc/docker/daemon.json has them in files',
          },
      network,
    ];
  } catch (error) {
    const fix =
      errorCode(error) === 'unavailable'
        ? 'start it, or name its socket: docker_endpoint in [dockershim]'
        : 'install Docker Engine 20.10 or later';
    return [{ what: 'Docker Engine', level: 'missing', message: errorMessage(error), fix }, network];
  }
}
