export default {
  poweredByHeader: false,
  // In development, Next.js writes the address of each request. That of /tap contains a key.
  logging: { incomingRequests: { ignore: [/^\/tap\b/] } },
};
