<?php

// The page behind a tap, on your server (PHP 8.1 or newer, no dependency): trade a rolling key, update
// variables with it, verify webhooks.

declare(strict_types=1);

namespace Tapdesk;

/** How often a call is tried, since a visitor waits for the page. */
const ATTEMPTS = 3;
/** How old a webhook may be, in seconds: Standard Webhooks 1.0. */
const TOLERANCE = 300;

/** The service does not understand a request, or a webhook is not from the service. */
final class TapdeskException extends \RuntimeException
{
}

/**
 * The facts of the tap that opened your page with the parameter `rk`. `verified` is true, false, or
 * null for "not checked", which never means "fake". The key can be traded again until it expires.
 */
function tap(string $service, ?string $rk): array
{
    if ($rk === null || $rk === '') {
        return nothing('none');
    }
    $url = base($service) . '/v2/interactions/rk_payload?' . http_build_query(['rk' => base64_encode($rk)]);
    $found = ask($url, ['method' => 'GET'], function (int $status, array $headers, array $payload): ?array {
        if ($payload === []) {
            return nothing('expired');
        }
        if (!isset($payload['metadata'])) {
            return null;
        }
        $facts = $payload['metadata'];
        $names = ['name', 'title', 'description', 'url', 'language_code'];
        $left = (int) ($headers['tapdesk-expires-in'] ?? 0);
        return [
            'verified' => $payload['tag_verified'],
            'reason' => 'ok',
            'tag' => ['id' => $facts['tag_id']] + array_intersect_key($facts, array_flip($names)),
            'payload' => $payload,
            'expires_at' => new \DateTimeImmutable("+$left seconds"),
        ];
    });
    return $found ?? nothing('unreachable');
}

/**
 * Sets variables of the tag, all or none, once for each key. A request that the service does not
 * understand, such as a value over 4 KiB, throws. The same values with the same `$idempotency_key` are
 * saved once: give your own one to make a second click harmless.
 */
function update(string $service, ?string $rk, array $values, ?string $idempotency_key = null): array
{
    if ($rk === null || $rk === '') {
        return ['ok' => false, 'reason' => 'expired'];
    }
    $request = [
        'method' => 'POST',
        // The service answers a repeated request again, instead of refusing a used key.
        'header' => ['Content-Type: application/json', 'Idempotency-Key: ' . ($idempotency_key ?? bin2hex(random_bytes(16)))],
        'content' => json_encode(['rolling_key' => base64_encode($rk), 'data' => (object) $values], JSON_THROW_ON_ERROR),
    ];
    $answer = ask(base($service) . '/v2/interactions/data', $request, function (int $status, array $headers, array $body): ?array {
        if ($body['success'] ?? false) {
            return ['ok' => true, 'reason' => 'saved'];
        }
        if (isset($headers['tapdesk-reason'])) {
            return ['ok' => false, 'reason' => $headers['tapdesk-reason']];
        }
        if (in_array($status, [400, 413, 415], true)) {
            throw new TapdeskException((string) ($body['message'] ?? ''));
        }
        return null;
    });
    return $answer ?? ['ok' => false, 'reason' => 'unreachable'];
}

/**
 * The event of a webhook. `$headers` are those of the request (`getallheaders()`), `$body` its bytes as
 * they arrived (`file_get_contents('php://input')`). Throws if the endpoint's secret did not sign it, or
 * it is older than five minutes.
 */
function verify_webhook(string $secret, array $headers, string $body): array
{
    $headers = array_change_key_case($headers);
    $sent = $headers['webhook-timestamp'] ?? '';
    if (!ctype_digit($sent) || abs(time() - (int) $sent) > TOLERANCE) {
        throw new TapdeskException('The webhook is too old, or its time is missing.');
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    if ($key === '') {
        // Anyone could sign with it.
        throw new TapdeskException('The secret of the webhook is missing.');
    }
    $signed = ($headers['webhook-id'] ?? '') . ".$sent.$body";
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    // Several while a secret is being replaced.
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $given) {
        if (hash_equals($expected, $given)) {
            return json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        }
    }
    throw new TapdeskException('The signature of the webhook is wrong.');
}

/** People copy addresses with a slash at the end. */
function base(string $service): string
{
    return rtrim($service, '/');
}

function nothing(string $reason): array
{
    return ['verified' => null, 'reason' => $reason, 'tag' => null, 'payload' => null, 'expires_at' => null];
}

/** Calls the service until it answers with something that `$read` accepts; null after the last attempt. */
function ask(string $url, array $request, callable $read): ?array
{
    $context = stream_context_create(['http' => $request + ['timeout' => 5, 'ignore_errors' => true, 'follow_location' => 0]]);
    for ($attempt = 1; $attempt <= ATTEMPTS; $attempt++) {
        $stream = @fopen($url, 'r', false, $context);
        $lines = $stream ? stream_get_meta_data($stream)['wrapper_data'] : [];
        $body = $stream ? json_decode((string) stream_get_contents($stream), true) : null;
        if (is_array($body) && preg_match('/^HTTP\/\S+ (\d+)/', $lines[0] ?? '', $line)) {
            $headers = [];
            foreach (array_slice($lines, 1) as $header) {
                [$name, $value] = explode(':', $header, 2) + [1 => ''];
                $headers[strtolower($name)] = trim($value);
            }
            $result = $read((int) $line[1], $headers, $body);
            if ($result !== null) {
                return $result;
            }
        }
        if ($attempt < ATTEMPTS) {
            usleep($attempt * 250_000);
        }
    }
    return null;
}
