<?php

/**
 * Plugin Name: Tapdesk
 * Description: Shows the verdict of a tap, and registers the product. Write [tapdesk] into a page.
 * Version: 1.0.0
 * Requires at least: 6.1
 * Requires PHP: 8.1
 * License: MIT OR Apache-2.0
 * Text Domain: tapdesk
 */

declare(strict_types=1);

namespace TapdeskPlugin;

defined('ABSPATH') || exit;

require_once __DIR__ . '/server/tapdesk.php';

/** Name of the option with the scheme and host of the service. */
const SERVICE = 'tapdesk_service';
/** Name of the cookie with the rolling key. Scripts of the page, such as those of third parties, cannot read it. */
const COOKIE = 'tapdesk_key';
/** Name of the parameter that says how a registration ended. */
const ANSWER = 'tapdesk_answer';
/** Action of the form's nonce. */
const REGISTER = 'tapdesk_register';
/** Longest name of an owner, in characters. */
const LONGEST = 200;

add_shortcode('tapdesk', __NAMESPACE__ . '\\shortcode');
// Before WordPress redirects to the canonical address, which would repeat the key.
add_action('template_redirect', __NAMESPACE__ . '\\before_page', 0);
add_action('admin_menu', __NAMESPACE__ . '\\add_settings_page');
add_action('admin_init', __NAMESPACE__ . '\\register_service');
register_uninstall_hook(__FILE__, __NAMESPACE__ . '\\uninstall');

/** Moves the key from the address into the cookie, and handles the form, before anything of the page is sent. */
function before_page(): void
{
    $post = get_post();
    if (!is_singular() || !$post || !has_shortcode($post->post_content, 'tapdesk')) {
        return;
    }
    // Each visitor gets another page. Caches of plugins know this name.
    defined('DONOTCACHEPAGE') || define('DONOTCACHEPAGE', true);
    nocache_headers();
    header('Referrer-Policy: no-referrer');
    if (isset($_GET['rk'])) {
        keep(wp_unslash($_GET['rk']));
        go_to(remove_query_arg(['rk', ANSWER]));
    }
    if (($_SERVER['REQUEST_METHOD'] ?? '') === 'POST' && isset($_POST[REGISTER])) {
        go_to(add_query_arg(ANSWER, register(), get_permalink($post)));
    }
}

function keep(mixed $rk): void
{
    // No key is long, but any text can stand in its place.
    if (!is_string($rk) || $rk === '' || strlen($rk) > 200) {
        return;
    }
    setcookie(COOKIE, $rk, [
        'expires' => time() + 300,
        'path' => '/',
        'secure' => is_ssl(),
        'httponly' => true,
        // Tag URLs are on another host, so `Strict` would lose it after the redirect. `Lax` keeps other sites from posting.
        'samesite' => 'Lax',
    ]);
}

function key(): ?string
{
    $rk = wp_unslash($_COOKIE[COOKIE] ?? null);
    return is_string($rk) ? $rk : null;
}

function go_to(string $url): never
{
    wp_safe_redirect($url, 303);
    exit;
}

/** Registers the product of the visitor's tap; the answer is a reason of answers(). */
function register(): string
{
    $nonce = $_POST[REGISTER];
    if (!is_string($nonce) || !wp_verify_nonce($nonce, REGISTER)) {
        return 'expired';
    }
    $owner = $_POST['owner'] ?? '';
    $owner = is_string($owner) ? sanitize_text_field(wp_unslash($owner)) : '';
    if ($owner === '' || mb_strlen($owner) > LONGEST) {
        return 'invalid';
    }
    // The form is shown after a verified tap only, but anybody can send a request.
    $tap = \Tapdesk\tap(service(), key());
    if ($tap['verified'] !== true) {
        return $tap['reason'] === 'unreachable' ? 'unreachable' : 'expired';
    }
    // The same for a second click, which therefore gets the first one's answer.
    $attempt = hash('sha256', key() . "\n" . $owner);
    return \Tapdesk\update(service(), key(), ['registered' => 'true', 'owner' => $owner], $attempt)['reason'];
}

function shortcode(): string
{
    // Lists and feeds contain the text of many pages.
    if (!is_singular()) {
        return '';
    }
    if (service() === '') {
        $text = current_user_can('manage_options')
            ? __('Tapdesk: enter the address of your service under Settings, Tapdesk.', 'tapdesk')
            : __('This page is not set up yet.', 'tapdesk');
        return '<p class="tapdesk">' . esc_html($text) . '</p>';
    }
    $tap = \Tapdesk\tap(service(), key());
    [$name, $title, $text] = verdict($tap);
    $answer = $_GET[ANSWER] ?? null;
    $html = '<div class="tapdesk tapdesk-' . esc_attr($name) . '">';
    if ($tap['tag']) {
        $html .= '<h2>' . esc_html($tap['tag']['title'] ?: $tap['tag']['name']) . '</h2>';
    }
    $html .= '<div role="status"><h2>' . esc_html($title) . '</h2><p>' . esc_html($text) . '</p></div>';
    if ($tap['reason'] === 'unreachable') {
        $html .= '<p><a href="' . esc_url(get_permalink()) . '">' . esc_html__('Try again', 'tapdesk') . '</a></p>';
    }
    if (is_string($answer) && isset(answers()[$answer])) {
        $html .= '<p role="status">' . esc_html(answers()[$answer]) . '</p>';
    }
    if ($tap['verified'] === true && $answer !== 'saved') {
        $html .= form();
    }
    return $html . '</div>';
}

function form(): string
{
    return '<form method="post" action="' . esc_url(get_permalink()) . '">'
        . wp_nonce_field(REGISTER, REGISTER, false, false)
        . '<p><label>' . esc_html__('Your name', 'tapdesk')
        . ' <input name="owner" autocomplete="name" required maxlength="' . esc_attr((string) LONGEST) . '"></label></p>'
        . '<p><button class="wp-element-button">' . esc_html__('Register', 'tapdesk') . '</button></p></form>';
}

/**
 * Name, title and text of a verdict. `null` means "not checked", such as a QR code: it never means that a product is fake.
 *
 * @return array{string, string, string}
 */
function verdict(array $tap): array
{
    if ($tap['reason'] === 'ok') {
        return match ($tap['verified']) {
            true => ['genuine', __('Genuine', 'tapdesk'), __('This tap came from the original tag of this product.', 'tapdesk')],
            false => ['not-verified', __('Not verified', 'tapdesk'), __('This address was opened before, or it may be a copy. Tap the tag on your product again. If you see this once more, please contact us.', 'tapdesk')],
            null => ['not-checked', __('Not checked', 'tapdesk'), __('This code leads to the product, but it cannot prove where it comes from. If your product has a tag, tap it.', 'tapdesk')],
        };
    }
    return match ($tap['reason']) {
        'expired' => ['expired', __('Time is up', 'tapdesk'), __('A tap is valid for five minutes. Tap the tag again.', 'tapdesk')],
        'unreachable' => ['unreachable', __('No connection', 'tapdesk'), __('We could not check your tap. Please try again.', 'tapdesk')],
        default => ['none', __('Tap your product', 'tapdesk'), __('Hold your phone to the tag to open this page.', 'tapdesk')],
    };
}

/** Texts by reason. Addresses can be changed, so only these reasons have an answer. */
function answers(): array
{
    return [
        'saved' => __('Registered. Thank you.', 'tapdesk'),
        'used' => __('This tap has registered the product already. To change it, tap the tag again.', 'tapdesk'),
        'expired' => __('Five minutes have passed. Tap the tag again, then register.', 'tapdesk'),
        'unknown_variable' => __('This product cannot be registered yet. Please contact us.', 'tapdesk'),
        'unreachable' => __('No connection. Please register again: nothing is stored twice.', 'tapdesk'),
        'invalid' => __('Enter a name of at most 200 characters.', 'tapdesk'),
    ];
}

function service(): string
{
    return (string) get_option(SERVICE, '');
}

/** WordPress checks capability and nonce of what is sent to a registered setting. */
function register_service(): void
{
    register_setting('tapdesk', SERVICE, ['type' => 'string', 'default' => '', 'sanitize_callback' => __NAMESPACE__ . '\\sanitize_service']);
}

/** Scheme and host, and nothing else. Any other text leaves the setting as it was. */
function sanitize_service(mixed $value): string
{
    $url = rtrim(trim(is_string($value) ? $value : ''), '/');
    if ($url === '' || preg_match('~^https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$~iD', $url)) {
        return $url;
    }
    add_settings_error(SERVICE, 'address', __('Enter scheme and host of your tag URL, such as https://tags.example.com.', 'tapdesk'));
    return service();
}

function add_settings_page(): void
{
    add_options_page('Tapdesk', 'Tapdesk', 'manage_options', 'tapdesk', __NAMESPACE__ . '\\settings_page');
}

function settings_page(): void
{
    if (!current_user_can('manage_options')) {
        return;
    }
    echo '<div class="wrap"><h1>Tapdesk</h1><form method="post" action="options.php">';
    settings_fields('tapdesk');
    echo '<table class="form-table" role="presentation"><tr><th scope="row"><label for="' . esc_attr(SERVICE) . '">'
        . esc_html__('Address of the service', 'tapdesk') . '</label></th><td><input type="url" class="regular-text" id="' . esc_attr(SERVICE)
        . '" name="' . esc_attr(SERVICE) . '" value="' . esc_attr(service()) . '" placeholder="https://tags.example.com"><p class="description">'
        . esc_html__('Scheme and host of your tag URL.', 'tapdesk') . '</p></td></tr></table>';
    submit_button();
    echo '</form></div>';
}

function uninstall(): void
{
    delete_option(SERVICE);
}
