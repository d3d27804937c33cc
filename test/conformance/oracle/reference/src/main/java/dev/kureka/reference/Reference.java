package dev.kureka.reference;

import com.netflix.eureka.registry.AbstractInstanceRegistry;
import com.netflix.eureka.registry.PeerAwareInstanceRegistry;
import com.netflix.eureka.registry.ResponseCacheImpl;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Field;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.cloud.netflix.eureka.server.EnableEurekaServer;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * The reference server with two changes for comparing: it forgets everything when it is told to, and no answer
 * comes from its response cache, which shows some changes three minutes late, unless reference.uncached is false.
 */
@SpringBootApplication
@EnableEurekaServer
@RestController
public class Reference {

    private final AbstractInstanceRegistry registry;

    Reference(PeerAwareInstanceRegistry registry) {
        this.registry = (AbstractInstanceRegistry) registry;
    }

    public static void main(String[] args) {
        SpringApplication.run(Reference.class, args);
    }

    /** Empties the registry with its change log and overrides. */
    @PostMapping("/reset")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void reset() {
        registry.clearRegistry();
    }

    /** Empties the response cache before every read, unless it is to be as its users run it. */
    @Bean
    @ConditionalOnBooleanProperty(name = "reference.uncached", matchIfMissing = true)
    FilterRegistrationBean<Filter> uncached() {
        FilterRegistrationBean<Filter> bean = new FilterRegistrationBean<>((request, response, chain) -> {
            if (((HttpServletRequest) request).getMethod().equals("GET")) {
                emptyCache();
            }
            chain.doFilter(request, response);
        });
        bean.setOrder(Integer.MIN_VALUE);
        return bean;
    }

    private void emptyCache() {
        try {
            Field cache = ResponseCacheImpl.class.getDeclaredField("readWriteCacheMap");
            cache.setAccessible(true);
            Class.forName("com.google.common.cache.Cache").getMethod("invalidateAll").invoke(cache.get(registry.getResponseCache()));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("emptying the response cache", e);
        }
    }
}
