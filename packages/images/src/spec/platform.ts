/** A platform as in an image index (image-spec v1, image-index.md), with GOARCH names. */
export type Platform = { os: string; architecture: string; variant?: string };

const architectureNames: Record<string, Platform> = {
  x64: { os: 'linux', architecture: 'amd64' },
  x86_64: { os: 'linux', architecture: 'amd64' },
  'x86-64': { os: 'linux', architecture: 'amd64' },
  ia32: { os: 'linux', architecture: '386' },
  i386: { os: 'linux', architecture: '386' },
  i686: { os: 'linux', architecture: '386' },
  aarch64: { os: 'linux', architecture: 'arm64' },
  armhf: { os: 'linux', architecture: 'arm', variant: 'v7' },
  armel: { os: 'linux', architecture: 'arm', variant: 'v6' },
  ppc64: { os: 'linux', architecture: 'ppc64le' },
};

/** Returns the Linux platform for an architecture, as named by Node.js, the kernel or Go. */
export function linuxPlatform(arch: string): Platform {
  return normalizePlatform({ os: 'linux', architecture: arch });
}

/**
 * Normalizes a platform for comparison: uses GOARCH names, makes default variants explicit (arm: v7, arm64: v8), and drops v1 for amd64.
 */
function normalizePlatform(platform: Platform): Platform {
  const known = architectureNames[platform.architecture.toLowerCase()];
  const os = platform.os.toLowerCase();
  const architecture = known?.architecture ?? platform.architecture.toLowerCase();
  let variant = (platform.variant || known?.variant || '').toLowerCase();
  if (/^[0-9]/.test(variant)) variant = `v${variant}`;
  if (architecture === 'arm64' && variant === '') variant = 'v8';
  if (architecture === 'arm' && variant === '') variant = 'v7';
  if (architecture === 'amd64' && variant === 'v1') variant = '';
  return variant === '' ? { os, architecture } : { os, architecture, variant };
}

/** Returns the platforms that the host can run, best first: its own, older variants, and its 32-bit sibling. */
function runnablePlatforms(host: Platform): Platform[] {
  const own = normalizePlatform(host);
  const arms = (from: number): Platform[] =>
    Array.from({ length: from - 4 }, (_, step) => ({ os: own.os, architecture: 'arm', variant: `v${from - step}` }));
  switch (own.architecture) {
    case 'amd64':
      return [own, { os: own.os, architecture: '386' }];
    case 'arm64':
      return [own, ...arms(8)];
    case 'arm':
      return arms(Number(own.variant?.slice(1)) || 7);
    default:
      return [own];
  }
}

/**
 * Returns the best match for a host among `candidates`; the first one wins a tie. A candidate without a platform is picked only if nothing
 * else matches; the caller must then check the platform in its image config.
 */
export function pickPlatform<T extends { platform?: Platform }>(candidates: T[], host: Platform): T | undefined {
  for (const runnable of runnablePlatforms(host)) {
    const found = candidates.find(({ platform }) => platform !== undefined && samePlatform(platform, runnable));
    if (found !== undefined) return found;
  }
  return candidates.find(({ platform }) => platform === undefined);
}

/** Whether the host can run programs built for `platform`. */
export function canRun(host: Platform, platform: Platform): boolean {
  return runnablePlatforms(host).some((runnable) => samePlatform(platform, runnable));
}

/** Formats a platform, for example as `linux/arm/v7`. */
export function formatPlatform({ os, architecture, variant }: Platform): string {
  return [os, architecture, variant].filter((part) => part !== undefined && part !== '').join('/');
}

function samePlatform(a: Platform, b: Platform): boolean {
  return formatPlatform(normalizePlatform(a)) === formatPlatform(normalizePlatform(b));
}
