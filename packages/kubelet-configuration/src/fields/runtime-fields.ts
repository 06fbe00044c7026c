import * as z from 'zod';
import { allowlistProblems, atLeast, between, each, emptyProblems } from './checks.ts';
import { composes, field, sets } from './field.ts';
import { bool, choice, duration, int32, string, stringList } from './field-types.ts';
import { kubeletKey } from './toml-key.ts';

/** Fields for the container runtime and for images. */
export const RUNTIME_FIELDS = {
  containerRuntimeEndpoint: field(string, 'unix:///run/containerd/containerd.sock', {
    flag: 'container-runtime-endpoint',
    about: 'endpoint of the container runtime (CRI)',
    check: emptyProblems,
    effect: sets('runtimeEndpoint'),
  }),
  imageServiceEndpoint: field(string, '', {
    flag: 'image-service-endpoint',
    about: "endpoint of the image service, if it differs from the runtime's",
    effect: sets('imageEndpoint', (endpoint) => endpoint || undefined),
  }),
  runtimeRequestTimeout: field(duration, 120_000, {
    flag: 'runtime-request-timeout',
    about: 'timeout of calls to the runtime, except long-running ones',
    check: atLeast(1),
    effect: sets('runtimeRequestTimeoutMs'),
  }),
  registryPullQPS: field(int32, 5, {
    flag: 'registry-qps',
    about: 'maximum image pulls per second, 0 for no limit',
    check: atLeast(0),
    effect: sets('images.registryPullQps'),
    keepsZero: true,
  }),
  registryBurst: field(int32, 10, {
    flag: 'registry-burst',
    about: 'maximum burst of image pulls while registryPullQPS is not exceeded',
    check: atLeast(0),
    effect: sets('images.registryBurst'),
  }),
  serializeImagePulls: field(bool, undefined, {
    flag: 'serialize-image-pulls',
    about: 'pull one image at a time; the default is true unless maxParallelImagePulls is more than 1',
    key: kubeletKey('serialize_image_pulls', z.boolean(), false),
    effect: sets('images.serializePulls', (isOn) => isOn ?? true),
  }),
  maxParallelImagePulls: field(int32, undefined, {
    about: 'maximum number of image pulls in parallel',
    key: kubeletKey('max_parallel_image_pulls', z.int().positive(), 5),
    check: (most = 1) => atLeast(1)(most),
    effect: sets('images.maxParallelPulls', (most) => most ?? 0),
    keepsZero: true,
  }),
  imagePullCredentialsVerificationPolicy: field(
    choice('NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'),
    'NeverVerifyPreloadedImages',
    {
      about: "which images that are already on the node require the pod's own pull credentials",
      effect: composes('images.verification'),
    },
  ),
  preloadedImagesVerificationAllowlist: field(stringList, [], {
    about: 'images that every pod may use, for the policy NeverVerifyAllowlistedImages',
    check: each(allowlistProblems),
    effect: composes('images.verification'),
  }),
  imageMinimumGCAge: field(duration, 120_000, {
    flag: 'minimum-image-ttl-duration',
    about: 'minimum age of an unused image before it is removed',
    check: atLeast(0),
    effect: sets('imageGc.minAgeMs'),
  }),
  imageMaximumGCAge: field(duration, 0, {
    about: 'age at which an unused image is removed even without disk pressure, 0 for never',
    check: atLeast(0),
    effect: sets('imageGc.maxAgeMs'),
  }),
  imageGCHighThresholdPercent: field(int32, 85, {
    flag: 'image-gc-high-threshold',
    about: 'disk usage in percent above which unused images are removed',
    check: between(0, 100),
    effect: sets('imageGc.highThresholdPercent'),
    keepsZero: true,
  }),
  imageGCLowThresholdPercent: field(int32, 80, {
    flag: 'image-gc-low-threshold',
    about: 'disk usage in percent down to which unused images are removed',
    check: between(0, 100),
    effect: sets('imageGc.lowThresholdPercent'),
    keepsZero: true,
  }),
};
