import { must, type Rule } from './rule.ts';

const cgroupVersion: Rule = ({ failCgroupV1 }, host) =>
  must(
    !failCgroupV1 || host.cgroupVersion !== 'v1',
    'failCgroupV1',
    'kubelet is configured to not run on a host using cgroup v1; set it to false to run here anyway',
  );

const shutdown: Rule = (configuration) => {
  const { shutdownGracePeriod: all, shutdownGracePeriodCriticalPods: critical } = configuration;
  const isPeriod = (ms: number) => ms === 0 || ms >= 1000;
  const gates = configuration.featureGates;
  const byPriority = configuration.shutdownGracePeriodByPodPriority.length > 0;
  return [
    ...must(critical <= all, 'shutdownGracePeriodCriticalPods', 'must be at most shutdownGracePeriod'),
    ...must(isPeriod(all), 'shutdownGracePeriod', 'must be 0 or at least 1s'),
    ...must(isPeriod(critical), 'shutdownGracePeriodCriticalPods', 'must be 0 or at least 1s'),
    ...must(
      !byPriority || (all <= 0 && critical <= 0),
      'shutdownGracePeriodByPodPriority',
      'cannot be combined with shutdownGracePeriod',
    ),
    ...must(
      gates.GracefulNodeShutdown !== false || (all <= 0 && !byPriority),
      byPriority ? 'shutdownGracePeriodByPodPriority' : 'shutdownGracePeriod',
      'needs the feature gate GracefulNodeShutdown',
    ),
  ];
};

const cluster: Rule = ({ kubeconfig, bootstrapKubeconfig, serverTLSBootstrap }) => [
  ...must(
    kubeconfig !== '' || bootstrapKubeconfig === '',
    'bootstrapKubeconfig',
    'needs --kubeconfig, the file to write',
  ),
  ...must(
    kubeconfig !== '' || !serverTLSBootstrap,
    'serverTLSBootstrap',
    'needs --kubeconfig: a cluster signs the certificate',
  ),
];

export const NODE_RULES: Rule[] = [cluster, cgroupVersion, shutdown];
