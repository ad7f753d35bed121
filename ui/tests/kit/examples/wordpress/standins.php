<?php

// Stand-ins for the functions of WordPress that the plugin calls, and a page with its shortcode: a router for `php -S`.
// WordPress itself runs at long lengths.

declare(strict_types=1);

const ABSPATH = __DIR__;
const CONTENT = 'Our product: [tapdesk]';

$actions = [];
$shortcodes = [];
$errors = [];

function add_shortcode(string $name, callable $render): void
{
    $GLOBALS['shortcodes'][$name] = $render;
}

function add_action(string $name, callable $work, int $priority = 10): void
{
    $GLOBALS['actions'][$name] = $work;
}

function register_uninstall_hook(string $file, callable $work): void
{
}

function get_post(): object
{
    return (object) ['post_content' => CONTENT];
}

function is_singular(): bool
{
    return !isset($_GET['list']);
}

function has_shortcode(string $content, string $name): bool
{
    return str_contains($content, "[$name]");
}

function nocache_headers(): void
{
    header('Cache-Control: no-cache, must-revalidate, max-age=0, no-store, private');
}

function wp_unslash(mixed $value): mixed
{
    return is_string($value) ? stripslashes($value) : $value;
}

function remove_query_arg(array $names): string
{
    return add_query_arg_of(array_diff_key($_GET, array_flip($names)));
}

function add_query_arg(string $name, string $value, string $url): string
{
    return $url . '?' . http_build_query([$name => $value]);
}

function add_query_arg_of(array $query): string
{
    return get_permalink() . ($query ? '?' . http_build_query($query) : '');
}

function get_permalink(mixed $post = null): string
{
    return "http://{$_SERVER['HTTP_HOST']}/product";
}

function is_ssl(): bool
{
    return isset($_SERVER['HTTP_X_TEST_HTTPS']);
}

function wp_safe_redirect(string $url, int $status): void
{
    header("Location: $url", true, $status);
}

function wp_nonce_field(string $action, string $name, bool $referer, bool $display): string
{
    return "<input type=\"hidden\" name=\"$name\" value=\"nonce-of-$action\">";
}

function wp_verify_nonce(string $nonce, string $action): bool
{
    return $nonce === "nonce-of-$action";
}

function sanitize_text_field(string $text): string
{
    return trim(preg_replace('/\s+/', ' ', strip_tags($text)));
}

function current_user_can(string $capability): bool
{
    return ($_SERVER['HTTP_X_TEST_USER'] ?? '') === $capability;
}

function __(string $text, string $domain): string
{
    return $text;
}

function esc_html(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES);
}

function esc_attr(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES);
}

function esc_url(string $url): string
{
    return htmlspecialchars($url, ENT_QUOTES);
}

function esc_html__(string $text, string $domain): string
{
    return esc_html($text);
}

function get_option(string $name, string $default): string
{
    return $_SERVER['HTTP_X_TEST_SERVICE'] ?? (getenv('TAPDESK_URL') ?: $default);
}

function settings_fields(string $group): void
{
    echo '<input type="hidden" name="option_page" value="' . esc_attr($group) . '">';
}

function submit_button(): void
{
    echo '<button>Save</button>';
}

function add_settings_error(string $setting, string $code, string $text): void
{
    $GLOBALS['errors'][] = $text;
}

if (!function_exists('mb_strlen')) {
    function mb_strlen(string $text): int
    {
        return preg_match_all('/./su', $text);
    }
}

// PHP adds slashes to nothing, and WordPress to all that arrives.
foreach (['_GET', '_POST', '_COOKIE'] as $input) {
    $GLOBALS[$input] = array_map(fn ($value) => is_string($value) ? addslashes($value) : $value, $GLOBALS[$input]);
}

require getenv('TAPDESK_PLUGIN');

if (isset($_GET['sanitize'])) {
    echo json_encode([TapdeskPlugin\sanitize_service(wp_unslash($_GET['sanitize'])), $errors]);
} elseif (isset($_GET['settings'])) {
    TapdeskPlugin\settings_page();
} else {
    $actions['template_redirect']();
    $content = preg_replace_callback('/\[(\w+)\]/', fn ($found) => $shortcodes[$found[1]](), CONTENT);
    echo '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A blog</title></head><body><main><h1>A blog</h1>' . $content . '</main></body></html>';
}
