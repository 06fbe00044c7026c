/** How the devices of DRA drivers are, as their drivers say. */
import { HealthStatus, type DeviceHealth as ToldHealth } from '@podwright/cri/dra-health';

/** Upstream's bound of what is said of a device. */
const MAX_HEALTH_MESSAGE_LENGTH = 1024;

/** How long is believed what a driver has said of a device, if it does not say itself: upstream's. */
const DRA_HEALTH_KEPT_MS = 30_000;

/** What is known of a device now. */
export type DeviceHealth = { health: 'Healthy' | 'Unhealthy' | 'Unknown'; message?: string };

/** A device within its driver. */
export type DeviceName = { pool: string; device: string };

type Known = DeviceHealth & { name: DeviceName; atMs: number; keptMs: number };

const UNKNOWN: DeviceHealth = { health: 'Unknown' };
const WORDS = { [HealthStatus.HEALTHY]: 'Healthy', [HealthStatus.UNHEALTHY]: 'Unhealthy' } as const;

/** What nobody has confirmed for too long is not known any more. */
export class DraHealth {
  /** By driver, then by pool and device. */
  readonly #known = new Map<string, Map<string, Known>>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  of(driver: string, name: DeviceName): DeviceHealth {
    const known = this.#known.get(driver)?.get(keyOf(name));
    if (known === undefined || this.#isStale(known)) return UNKNOWN;
    const { health, message } = known;
    return message === undefined ? { health } : { health, message };
  }

  /** A driver has told of devices; returns those that are not as they were, and those that it has not told of for too long. */
  update(driver: string, told: ToldHealth[]): DeviceName[] {
    const before = this.#known.get(driver) ?? new Map<string, Known>();
    const now = told.map((one) => knownOf(one, this.#now()));
    const stale = [...before.values()].filter((one) => this.#isStale(one));
    const changed = now.filter((one) => !isSame(before.get(keyOf(one.name)), one));
    const kept = [...before.values()].filter((one) => !this.#isStale(one));
    this.#known.set(driver, new Map([...kept, ...now].map((one) => [keyOf(one.name), one])));
    return [...changed, ...stale].map(({ name }) => name);
  }

  /** The driver tells no more. */
  clear(driver: string): DeviceName[] {
    const before = [...(this.#known.get(driver)?.values() ?? [])];
    this.#known.delete(driver);
    return before.map(({ name }) => name);
  }

  #isStale({ atMs, keptMs }: Known): boolean {
    return this.#now() - atMs > keptMs;
  }
}

function knownOf({ device, health, healthCheckTimeoutSeconds: seconds, message }: ToldHealth, atMs: number): Known {
  return {
    name: { pool: device?.poolName ?? '', device: device?.deviceName ?? '' },
    health: health === HealthStatus.UNKNOWN ? 'Unknown' : (WORDS[health] ?? 'Unknown'),
    ...(message !== '' && { message: shortened(message) }),
    atMs,
    keptMs: seconds > 0n ? Number(seconds) * 1000 : DRA_HEALTH_KEPT_MS,
  };
}

const keyOf = ({ pool, device }: DeviceName) => `${pool}/${device}`;

const isSame = (before: Known | undefined, now: Known) =>
  before?.health === now.health && before.message === now.message && before.keptMs === now.keptMs;

const shortened = (text: string) =>
  text.length <= MAX_HEALTH_MESSAGE_LENGTH ? text : `${text.slice(0, MAX_HEALTH_MESSAGE_LENGTH - 3)}...`;
