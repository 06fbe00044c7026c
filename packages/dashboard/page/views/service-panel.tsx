/** The endpoints and ports of a Service, and a button that tests the Service from the machine running the dashboard. */
import { useState } from 'preact/hooks';
import { type TryResult, tryService } from '../api/dashboard.ts';
import type { EndpointSlice, ServiceObject } from '../api/objects.ts';
import { messageOf } from '../api/request.ts';
import { builtIn } from '../api/resources.ts';
import { useCollection } from '../state/app.ts';
import { countText, durationText } from '../state/text.ts';
import { Mark, ObjectLink, Problem, Text } from '../widgets/marks.tsx';
import { Fact, Facts, Panel } from '../widgets/panel.tsx';

const SLICES = builtIn('EndpointSlice');

export function ServicePanel({ service: { metadata, spec = {} } }: { service: ServiceObject }) {
  const [namespace, name] = [metadata.namespace ?? '', metadata.name ?? ''];
  const slices = useCollection<EndpointSlice>(SLICES, {
    namespace,
    labelSelector: `kubernetes.io/service-name=${name}`,
  });
  const selector = Object.entries(spec.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return (
    <>
      <Panel title="Endpoints">
        <Endpoints slices={slices.list} namespace={namespace} />
      </Panel>
      <Panel title="Service">
        <Facts>
          <Fact name="Type">{spec.type ?? 'ClusterIP'}</Fact>
          <Fact name="Address">
            <Text>{spec.externalName ?? spec.clusterIP}</Text>
          </Fact>
          <Fact name="Selector">
            <Text>{selector.join(', ') || 'none'}</Text>
          </Fact>
        </Facts>
        <ul class="ports">
          {(spec.ports ?? []).map(({ name: portName, port, protocol = 'TCP', targetPort = port, nodePort }) => (
            <li key={`${port}/${protocol}`}>
              <Text>{`${portName ? `${portName}: ` : ''}${port}/${protocol} → ${targetPort}${nodePort ? `, node port ${nodePort}` : ''}`}</Text>{' '}
              <Try namespace={namespace} service={name} port={port} />
            </li>
          ))}
        </ul>
      </Panel>
    </>
  );
}

function Endpoints({ slices, namespace }: { slices: readonly EndpointSlice[]; namespace: string }) {
  const endpoints = slices.flatMap((slice) =>
    (slice.endpoints ?? []).map((endpoint) => ({ endpoint, ports: slice.ports ?? [] })),
  );
  const ready = endpoints.filter(({ endpoint }) => endpoint.conditions?.ready !== false);
  return (
    <>
      <p>
        {ready.length === 0 ? (
          <Mark tone="bad">no endpoint is ready</Mark>
        ) : (
          <Mark tone="good">{countText(ready.length, 'ready endpoint')}</Mark>
        )}
        {endpoints.length > ready.length ? (
          <span class="faint"> {endpoints.length - ready.length} not ready</span>
        ) : null}
      </p>
      <ul class="endpoints">
        {endpoints.map(({ endpoint: { addresses = [], conditions, targetRef }, ports }) => (
          <li key={addresses.join()}>
            <Mark tone={conditions?.ready === false ? 'warn' : 'good'}>
              {conditions?.ready !== false ? 'ready' : conditions.terminating ? 'terminating' : 'not ready'}
            </Mark>{' '}
            <span class="mono">
              <Text>
                {addresses
                  .flatMap((address) =>
                    ports.map(({ port }) => `${address.includes(':') ? `[${address}]` : address}:${port}`),
                  )
                  .join(' ')}
              </Text>
            </span>{' '}
            {targetRef?.kind === 'Pod' ? (
              <ObjectLink object={{ kind: 'Pod', namespace, name: targetRef.name ?? '' }} />
            ) : null}
          </li>
        ))}
      </ul>
    </>
  );
}

type TryState = { result?: TryResult; error?: unknown; isRunning: boolean };

/** A button that resolves a Service and connects to one of its ports, and the result of this test. */
function Try(target: { namespace: string; service: string; port: number }) {
  const [{ result, error, isRunning }, setState] = useState<TryState>({ isRunning: false });
  const run = async () => {
    setState({ isRunning: true });
    try {
      setState({ result: await tryService(target), isRunning: false });
    } catch (failure) {
      setState({ error: failure, isRunning: false });
    }
  };
  return (
    <>
      <button type="button" onClick={run} disabled={isRunning} aria-label={`Try port ${target.port}`}>
        {isRunning ? 'Trying …' : 'Try'}
      </button>
      <div role="status">
        {error === undefined ? null : <Problem what="The Service could not be tried">{messageOf(error)}</Problem>}
        {result === undefined ? null : <TryReport result={result} />}
      </div>
    </>
  );
}

function TryReport({ result: { from, dns, connects } }: { result: TryResult }) {
  return (
    <ul class="tried">
      <li>
        <Mark tone={dns.error === undefined ? 'good' : 'bad'}>DNS</Mark>{' '}
        <Text>{`${dns.name}: ${dns.error ?? dns.addresses.join(', ')}`}</Text>{' '}
        <span class="faint">
          {durationText(dns.ms)}
          {dns.server === undefined ? '' : `, by ${dns.server}`}, from {from}
        </span>
      </li>
      {connects.map(({ address, port, ms, error }) => (
        <li key={`${address} ${port}`}>
          <Mark tone={error === undefined ? 'good' : 'bad'}>{error === undefined ? 'connected' : 'not connected'}</Mark>{' '}
          <Text>{`${address} port ${port}${error === undefined ? '' : `: ${error}`}`}</Text>{' '}
          <span class="faint">{durationText(ms)}</span>
        </li>
      ))}
    </ul>
  );
}
