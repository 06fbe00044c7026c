import { errorMessage } from '@podwright/base';
import { type DockershimOptions, lookAtEngine, lookAtPodNetwork } from '@podwright/dockershim';
import { namesIn } from '@podwright/host';
import { engineHelp } from '../daemon/docker-runtime.ts';
import { dockershimOptions } from '../daemon/dockershim-options.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import type { Finding } from './doctor-places.ts';

/** Returns the findings about the Docker Engine and the network of a node with `runtime = "docker"`. */
export async function dockerFindings(config: NodeConfig): Promise<Finding[]> {
  const options = dockershimOptions(config);
  return [...(await engineFindings(options)), await networkFinding(options)];
}

async function engineFindings({ dockerSocket, cgroupDriver: wanted }: DockershimOptions): Promise<Finding[]> {
  try {
    const { version, cgroupDriver, logDriver, hasLogFiles } = await lookAtEngine(dockerSocket, { wanted });
    return [
      { what: 'Docker Engine', level: 'ok', message: `${version} on ${dockerSocket}, cgroup driver ${cgroupDriver}` },
      hasLogFiles
        ? { what: 'log driver', level: 'ok', message: logDriver }
        : {
            what: 'log driver',
            level: 'note',
            message: `${logDriver}: logs are read through the Engine, and log collectors find no files`,
            fix: '"log-driver": "json-file" in /etc/docker/daemon.json writes log files',
          },
    ];
  } catch (error) {
    // if the Engine is unsuitable rather than down, there is no separate advice, because the error message itself says how to fix it
    const finding: Finding = { what: 'Docker Engine', level: 'missing', message: errorMessage(error) };
    const fix = engineHelp(error);
    return [fix === undefined ? finding : { ...finding, fix }];
  }
}

async function networkFinding({ network }: DockershimOptions): Promise<Finding> {
  try {
    return { what: 'network', level: 'ok', message: await lookAtPodNetwork(network) };
  } catch (error) {
    const message = errorMessage(error);
    const templates = (await namesIn(network.confDir)).filter((name) => name.endsWith('.template'));
    if (templates.length > 0)
      return {
        what: 'network',
        level: 'note',
        message,
        fix: `a kubelet that knows the pods' subnet writes ${templates[0]!.replace(/\.template$/, '')}`,
      };
    const fix = 'put a configuration there and install its plugins, or set network_plugin = "none" in [dockershim]';
    return { what: 'network', level: 'missing', message, fix };
  }
}
