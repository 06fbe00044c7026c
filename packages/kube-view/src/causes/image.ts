/** Causes for images that cannot be pulled. */
import { containerOf, firstLine, waitingFor } from './containers.ts';
import type { PodCause } from './finding.ts';

const PULL = ['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName', 'RegistryUnavailable'];

/** Patterns of registry and container runtime error messages. The first match wins. */
const REASONS: [cause: string, pattern: RegExp, sentence: string, advice: string[]][] = [
  [
    'clock',
    /certificate has expired|not yet valid|CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/i,
    "the registry's certificate is not valid at this machine's time",
    ['Compare the time of this machine with the real one; if it is right, the registry has to renew its certificate.'],
  ],
  [
    'registry-name',
    /no such host|ENOTFOUND|EAI_AGAIN|could not resolve|server misbehaving/i,
    'the name of the registry cannot be resolved',
    ["Check the registry's name in the image, and the name servers of this machine in /etc/resolv.conf."],
  ],
  [
    'image-credentials',
    /unauthorized|authentication required|denied|forbidden|no basic auth|401|403/i,
    'the registry does not let these credentials pull the image, or the image does not exist there',
    [
      'Name a Secret of type kubernetes.io/dockerconfigjson in spec.imagePullSecrets, in the namespace of the pod.',
      'Check that the name of the image is right: registries answer this for images that do not exist, too.',
    ],
  ],
  [
    'image-not-found',
    /not ?found|manifest unknown|name unknown|no such|does not exist/i,
    'the registry has no such image or tag',
    ['Check the name and the tag of the image for typing errors, and that the tag exists for this architecture.'],
  ],
  [
    'registry-unreachable',
    /connection refused|timeout|timed out|unreachable|ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|reset|EOF/i,
    'the registry does not answer',
    ['Check the network of this machine, its proxy settings and firewalls, and whether the registry runs.'],
  ],
];

export const imagePull: PodCause = ({ pod, events }) => {
  const waiting = waitingFor(pod, PULL);
  if (waiting === undefined) return undefined;
  const image = containerOf(pod, waiting.name)?.image ?? '';
  const of = `the image "${image}" of container ${waiting.name}`;
  if (waiting.reason === 'InvalidImageName')
    return {
      cause: 'image-name',
      sentence: `${of} has no valid name: ${firstLine(waiting.message)}`,
      advice: ['Correct the field image.'],
    };
  if (waiting.reason === 'ErrImageNeverPull')
    return {
      cause: 'image-absent',
      sentence: `${of} is not on this machine, and its imagePullPolicy is Never`,
      advice: ['Load the image onto the machine, or set imagePullPolicy to IfNotPresent.'],
    };
  // the message of a back-off event might lack the cause, so events of failed pulls are searched too
  const failures = events.filter(({ reason, message }) => reason === 'Failed' && message.includes(image));
  const text = [waiting.message, ...failures.map(({ message }) => message).reverse()].join('\n');
  const known = REASONS.find(([, pattern]) => pattern.test(text.replaceAll(image, '')));
  if (known === undefined)
    return {
      cause: 'image-pull',
      sentence: `${of} cannot be pulled: ${firstLine(text)}`,
      advice: ['Pull the image by hand to see the whole error.'],
    };
  const [cause, , sentence, advice] = known;
  return { cause, sentence: `${of} cannot be pulled: ${sentence}`, advice };
};
