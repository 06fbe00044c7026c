import { field, sets } from './field.ts';
import { bool, choice, duration, int32, string, stringList } from './field-types.ts';

/** Fields about the container runtime and images. */
export const RUNTIME_FIELDS = {
  containerRuntimeEndpoint: field(string, 'unix:///run/containerd/containerd.sock', {
    flag: 'container-runtime-endpoint',
    about: 'where the container runtime is',
    effect: sets('runtimeEndpoint'),
  }),
  imageServiceEndpoint: field(string, '', {
    flag: 'image-service-endpoint',
    about: 'where images are, if elsewhere',
    effect: sets('imageEndpoint'),
  }),
  runtimeRequestTimeout: field(duration, 120_000, {
    flag: 'runtime-request-timeout',
    about: 'deadline of calls to the runtime, but for long ones',
    effect: sets('runtimeRequestTimeoutMs'),
  }),
  registryPullQPS: field(int32, 5, {
    flag: 'registry-qps',
    about: 'pulls a second, 0 for any number',
    effect: sets('images.registryPullQps'),
    keepsZero: true,
  }),
  registryBurst: field(int32, 10, {
    flag: 'registry-burst',
    about: 'pulls at once, within registry-qps',
    effect: sets('images.registryBurst'),
  }),
  serializeImagePulls: field(bool, undefined, {
    flag: 'serialize-image-pulls',
    about: 'pull one image at a time; the default is true unless maxParallelImagePulls is more than 1',
    effect: sets('images.serializePulls'),
  }),
  maxParallelImagePulls: field(int32, undefined, {
    about: 'pulls at a time',
    effect: sets('images.maxParallelPulls'),
    keepsZero: true,
  }),
  imagePullCredentialsVerificationPolicy: field(
    choice('NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'),
    'NeverVerifyPreloadedImages',
    {
      about: 'whose pods may use an image that is there',
      effect: sets('images.verification'),
    },
  ),
  preloadedImagesVerificationAllowlist: field(stringList, [], {
    about: 'images that are for all pods',
    effect: sets('images.verification'),
  }),
  imageMinimumGCAge: field(duration, 120_000, {
    flag: 'minimum-image-ttl-duration',
    about: 'age that an unused image has at least when it is removed',
    effect: sets('imageGc.minAgeMs'),
  }),
  imageMaximumGCAge: field(duration, 0, {
    about: 'age at which an unused image is removed in any case, 0 for none',
    effect: sets('imageGc.maxAgeMs'),
  }),
  imageGCHighThresholdPercent: field(int32, 85, {
    flag: 'image-gc-high-threshold',
    about: 'share of the disk at which images are removed',
    effect: sets('imageGc.highThresholdPercent'),
    keepsZero: true,
  }),
  imageGCLowThresholdPercent: field(int32, 80, {
    flag: 'image-gc-low-threshold',
    about: 'share of the disk at which that stops',
    effect: sets('imageGc.lowThresholdPercent'),
    keepsZero: true,
  }),
};
