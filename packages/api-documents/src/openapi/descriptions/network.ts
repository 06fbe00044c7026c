/** Descriptions of Services, ingress and network policies. */
export const NETWORK = `
core.Service: One address and DNS name for a group of pods.
core.ServiceSpec: The pods of a Service and how they are reached.
  type: ClusterIP, NodePort (also a port of each node), LoadBalancer (also an outer address) or ExternalName (a DNS alias).
  selector: Labels of the pods. Without a selector, endpoints are written by others.
  ports: The ports of the Service.
  clusterIP: The address in the cluster; None for a headless Service, whose DNS name has the addresses of the pods.
  clusterIPs: The addresses in the cluster, one for each IP family.
  ipFamilies: IPv4, IPv6 or both, in the order of clusterIPs.
  ipFamilyPolicy: SingleStack, PreferDualStack or RequireDualStack.
  externalIPs: Addresses of nodes that lead to the Service, too.
  externalName: The DNS name that an ExternalName Service stands for.
  loadBalancerIP: Deprecated: the outer address to use.
  loadBalancerClass: The kind of load balancer.
  loadBalancerSourceRanges: Client networks that the load balancer accepts.
  allocateLoadBalancerNodePorts: Whether a LoadBalancer Service gets ports of the nodes. Default true.
  sessionAffinity: ClientIP: a client stays with one pod. Default None.
  sessionAffinityConfig: For how long.
  externalTrafficPolicy: Where traffic from outside goes: Cluster (any pod) or Local (pods of the node).
  internalTrafficPolicy: Where traffic from inside goes: Cluster or Local.
  trafficDistribution: Which pods are preferred, such as PreferSameZone.
  healthCheckNodePort: A port of the nodes at which load balancers ask for local pods.
  publishNotReadyAddresses: Whether pods that are not ready count, too.
core.ServicePort: A port of a Service.
  name: The name, needed if there are several ports.
  port: The port of the Service.
  targetPort: The port of the pods: a number, or the name of a container port. Default: port.
  nodePort: The port of the nodes. Chosen by the server if it is not set.
  protocol: TCP, UDP or SCTP. Default TCP.
  appProtocol: The protocol of the application, such as http or kubernetes.io/h2c.
core.ServiceStatus: The observed state of a Service.
  loadBalancer: The outer addresses.
core.Endpoints: The addresses behind a Service. Deprecated: use EndpointSlice.
  subsets: Addresses and ports.
discovery.EndpointSlice: A part of the addresses behind a Service.
  addressType: IPv4, IPv6 or FQDN.
  endpoints: The addresses and whether they are ready.
  ports: The ports of all addresses.
discovery.Endpoint: An address behind a Service.
  addresses: The address.
  hostname: The host name of the pod.
  targetRef: The pod.
  nodeName: The node of the pod.
  zone: The zone of the node.
  hints: Which zones or nodes should use the address.
discovery.EndpointConditions: The state of an address.
  ready: Whether it gets traffic.
  serving: Whether the pod is ready, even if it is being deleted.
  terminating: Whether the pod is being deleted.
networking.Ingress: Leads HTTP requests from outside to Services, by host and path.
networking.IngressSpec: The rules of an Ingress.
  ingressClassName: The IngressClass, which chooses the controller.
  defaultBackend: Where requests go that match no rule.
  tls: Hosts with their certificates.
  rules: Rules by host.
networking.IngressRule: A rule for a host.
  host: The host name, or *.example.org. Empty: any.
  http: The paths.
networking.HTTPIngressPath: A path of a host.
  path: The path.
  pathType: How it matches: Exact, Prefix or ImplementationSpecific.
  backend: Where the requests go.
networking.IngressBackend: Where requests go.
  service: A Service and its port.
  resource: Another object, instead of a Service.
networking.IngressServiceBackend: A Service and its port.
  name: The Service.
  port: The port, by name or number.
networking.IngressTLS: Hosts with a certificate.
  hosts: The host names.
  secretName: The Secret with the certificate and key.
networking.IngressClass: A kind of Ingress and its controller.
networking.IngressClassSpec: The controller of an IngressClass.
  controller: The name of the controller.
  parameters: An object with settings for it.
networking.NetworkPolicy: Which connections pods may have.
networking.NetworkPolicySpec: The pods of a policy, and their allowed connections.
  podSelector: Selects the pods of the namespace to which the policy applies.
  policyTypes: Ingress, Egress or both: which connections the policy restricts.
  ingress: Allowed connections to the pods. Others are refused.
  egress: Allowed connections from the pods. Others are refused.
networking.NetworkPolicyIngressRule: Allowed connections to pods.
  from: Whose connections. Empty: all.
  ports: To which ports. Empty: all.
networking.NetworkPolicyEgressRule: Allowed connections from pods.
  to: Where to. Empty: anywhere.
  ports: To which ports. Empty: all.
networking.NetworkPolicyPeer: The other side of a connection.
  podSelector: Pods by their labels.
  namespaceSelector: Namespaces by their labels.
  ipBlock: A network.
networking.NetworkPolicyPort: Ports of a connection.
  protocol: TCP, UDP or SCTP. Default TCP.
  port: The number or name of the port.
  endPort: The last port of a range.
networking.IPBlock: A network.
  cidr: The network, such as 10.0.0.0/8.
  except: Parts of it that do not count.
networking.IPAddress: An address of a Service, so that no other Service gets it.
networking.ServiceCIDR: A network from which Services get their addresses.
coordination.Lease: Who holds a role, and until when. Nodes report their health by it.
coordination.LeaseSpec: Who holds a lease.
  holderIdentity: The holder.
  leaseDurationSeconds: How many seconds after renewTime others may take it.
  acquireTime: When the holder took it.
  renewTime: When the holder last renewed it.
  leaseTransitions: How often the holder changed.
coordination.LeaseCandidate: A program that could hold a lease.
`;
