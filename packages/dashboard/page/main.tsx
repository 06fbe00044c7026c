/** The page's entry point. Shows the view in the URL's fragment, or a message that there is no session. */
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { App, AppContext, useApp } from './state/app.ts';
import { listenForKeys } from './state/keys.ts';
import { EventsPage } from './views/events-page.tsx';
import { HelpDialog } from './views/help-dialog.tsx';
import { ImagesPage } from './views/images-page.tsx';
import { CustomPage, ListPage, SectionPage } from './views/list-pages.tsx';
import { ObjectPage } from './views/object-page.tsx';
import { Overview } from './views/overview.tsx';
import { PodPage } from './views/pod-page.tsx';
import { SearchDialog } from './views/search-box.tsx';
import { Shell } from './views/shell.tsx';
import { SignedOut } from './views/signed-out.tsx';
import { Problem, Waiting } from './widgets/marks.tsx';

function Page() {
  const app = useApp();
  const state = app.state.value;
  useEffect(() => {
    const abort = new AbortController();
    listenForKeys(app, abort.signal);
    return () => abort.abort();
  }, [app]);
  if (state.kind === 'starting') return <Waiting what="Connecting" />;
  if (state.kind === 'signed-out') return <SignedOut />;
  if (state.kind === 'failed')
    return (
      <main>
        <Problem what="The server does not answer. The page tries again">{state.message}</Problem>
      </main>
    );
  return (
    <>
      <Shell>
        <CurrentPage />
      </Shell>
      {app.isSearchOpen.value ? <SearchDialog /> : null}
      {app.isHelpOpen.value ? <HelpDialog /> : null}
    </>
  );
}

function CurrentPage() {
  const { value: route } = useApp().route;
  useEffect(() => {
    if (route.page !== 'pod' && route.page !== 'object') document.title = 'Podwright';
  }, [route]);
  switch (route.page) {
    case 'overview':
      return <Overview />;
    case 'events':
      return <EventsPage />;
    case 'images':
      return <ImagesPage />;
    case 'custom':
      return <CustomPage />;
    case 'section':
      return <SectionPage key={route.section} section={route.section} />;
    case 'list':
      return <ListPage key={route.resource} id={route.resource} />;
    case 'pod':
      return <PodPage key={`${route.namespace}/${route.name}`} {...route} />;
    case 'object':
      return <ObjectPage key={`${route.resource}/${route.namespace}/${route.name}`} id={route.resource} {...route} />;
    case 'unknown':
      return <Problem what="There is no such page" />;
  }
}

const app = new App();
app.start();
render(
  <AppContext.Provider value={app}>
    <Page />
  </AppContext.Provider>,
  document.getElementById('page')!,
);
