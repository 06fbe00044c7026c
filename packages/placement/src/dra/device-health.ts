/** Device health as reported by DRA drivers. */
import { HealthStatus, type DeviceHealth as ReportedHealth } from '../dra-health-api.ts';

/** Maximum length of a device's health message, the same as upstream's. */
const MAX_HEALTH_MESSAGE_LENGTH = 1024;

/** Default validity of a health report that does not specify a timeout, the same as upstream's. */
const DRA_HEALTH_TIMEOUT_MS = 30_000;

/** A device's current health. */
export type DeviceHealth = { health: 'Healthy' | 'Unhealthy' | 'Unknown'; message?: string };

/** Identifies a device of a driver. */
export type DeviceName = { pool: string; device: string };

type Known = DeviceHealth & { name: DeviceName; atMs: number; timeoutMs: number };

const UNKNOWN: DeviceHealth = { health: 'Unknown' };
const HEALTH_TEXT = { [HealthStatus.HEALTHY]: 'Healthy', [HealthStatus.UNHEALTHY]: 'Unhealthy' } as const;

/** Last reported health of devices, which is unknown once the report has expired. */
export class DraHealth {
  /** Reports by driver, then by pool and device name. */
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

  /** Records a driver's report. Returns the devices whose health has changed or whose previous report had expired. */
  update(driver: string, reports: ReportedHealth[]): DeviceName[] {
    const before = this.#known.get(driver) ?? new Map<string, Known>();
    const now = reports.map((one) => knownOf(one, this.#now()));
    const stale = [...before.values()].filter((one) => this.#isStale(one));
    const changed = now.filter((one) => !isSame(before.get(keyOf(one.name)), one));
    const valid = [...before.values()].filter((one) => !this.#isStale(one));
    this.#known.set(driver, new Map([...valid, ...now].map((one) => [keyOf(one.name), one])));
    return [...changed, ...stale].map(({ name }) => name);
  }

  /** Removes the reports of a driver that has stopped reporting. Returns the affected devices. */
  clear(driver: string): DeviceName[] {
    const before = [...(this.#known.get(driver)?.values() ?? [])];
    this.#known.delete(driver);
    return before.map(({ name }) => name);
  }

  #isStale({ atMs, timeoutMs }: Known): boolean {
    return this.#now() - atMs > timeoutMs;
  }
}

function knownOf({ device, health, healthCheckTimeoutSeconds: seconds, message }: ReportedHealth, atMs: number): Known {
  return {
    name: { pool: device?.poolName ?? '', device: device?.deviceName ?? '' },
    health: health === HealthStatus.UNKNOWN ? 'Unknown' : (HEALTH_TEXT[health] ?? 'Unknown'),
    ...(message !== '' && { message: shortened(message) }),
    atMs,
    timeoutMs: seconds > 0n ? Number(seconds) * 1000 : DRA_HEALTH_TIMEOUT_MS,
  };
}

const keyOf = ({ pool, device }: DeviceName) => `${pool}/${device}`;

const isSame = (before: Known | undefined, now: Known) =>
  before?.health === now.health && before.message === now.message && before.timeoutMs === now.timeoutMs;

const shortened = (text: string) =>
  text.length <= MAX_HEALTH_MESSAGE_LENGTH ? text : `${text.slice(0, MAX_HEALTH_MESSAGE_LENGTH - 3)}...`;
