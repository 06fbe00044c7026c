import { Counter, Gauge, Histogram, type Registry } from '@podwright/base';
import type { Schema } from '@podwright/kube-schema';
import type { ObservedRequest, RequestObserver } from '../server/request-observer.ts';
import { requestLabels } from './request-labels.ts';

const LABELS = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
/** Bucket boundaries of upstream's histograms, in seconds. */
const SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const READ_ONLY = ['get', 'list', 'watch', 'head'];

/** Request metrics with upstream's names (apiserver, endpoints/metrics). */
export class RequestMetrics implements RequestObserver {
  readonly #schema: Schema;
  readonly #requests;
  readonly #durations;
  readonly #inFlight;
  readonly #longRunning;

  constructor(registry: Registry, schema: Schema) {
    this.#schema = schema;
    const registers = [registry];
    this.#requests = new Counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, dry run, group, version, resource, scope, component, and HTTP response code.',
      labelNames: [...LABELS, 'code'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the arrival of a request to the end of its response, in seconds.',
      labelNames: [...LABELS],
      buckets: SECONDS,
      registers,
    });
    this.#inFlight = new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests in flight that are not long-running, by their kind.',
      labelNames: ['request_kind'],
      registers,
    });
    this.#longRunning = new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Long-running requests in flight.',
      labelNames: ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'],
      registers,
    });
    for (const kind of ['mutating', 'readOnly']) this.#inFlight.set({ request_kind: kind }, 0);
  }

  received(request: ObservedRequest): void {
    this.#count(request, 1);
  }

  completed(request: ObservedRequest, status: number): void {
    if (request.user !== undefined) this.#count(request, -1); // it was received
    const labels = requestLabels(this.#schema, request);
    this.#requests.inc({ ...labels, code: String(status) });
    this.#durations.observe(labels, (Date.now() - request.startMs) / 1000);
  }

  #count(request: ObservedRequest, change: number): void {
    const { info, isLongRunning } = request;
    if (isLongRunning) {
      const { dry_run: _, ...labels } = requestLabels(this.#schema, request);
      return this.#longRunning.inc(labels, change);
    }
    this.#inFlight.inc({ request_kind: READ_ONLY.includes(info?.verb ?? '') ? 'readOnly' : 'mutating' }, change);
  }
}
