import { Counter, Gauge, type Registry } from '@podwright/base';

/** Metrics of registered extension API servers with upstream's names (kube-aggregator, controllers/status/metrics). */
export class AvailabilityMetrics {
  readonly #unavailable: Gauge<'name'>;
  readonly #changes: Counter<'name' | 'reason'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#unavailable = new Gauge({
      name: 'aggregator_unavailable_apiservice',
      help: 'Whether the server of an APIService is unavailable.',
      labelNames: ['name'],
      registers,
    });
    this.#changes = new Counter({
      name: 'aggregator_unavailable_apiservice_total',
      help: 'How often the server of an APIService became unavailable.',
      labelNames: ['name', 'reason'],
      registers,
    });
  }

  set(name: string, isAvailable: boolean): void {
    this.#unavailable.set({ name }, isAvailable ? 0 : 1);
  }

  becameUnavailable(name: string, reason: string): void {
    this.#changes.inc({ name, reason });
  }

  forget(name: string): void {
    this.#unavailable.remove({ name });
  }
}
